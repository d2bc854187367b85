"""Trials of other studies that need not be run again: the same plan, settings, system and versions.

Ratios are taken within a block, because conditions drift. A reused trial was measured in a block of another study, and
`reused_from` says in which: it pairs with other trials of that block only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workalike.study import system
from workalike.study.journal import Finished, read_finished, read_manifest
from workalike.study.trial import Trial
from workalike.study.workplace import Workplace

Key = tuple[str, str, str, str, str, int]


class Cache:
    """The finished trials of other studies, each of which is taken once at most."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._held: dict[Key, tuple[str, Finished]] = {}
        for folder in folders:
            study = read_manifest(folder)["id"]
            for found in read_finished(folder):
                key = _key_of_row(found.trial)
                if found.trial.get("state") == "ok" and key is not None:
                    self._held.setdefault(key, (study, found))

    def find(self, trial: Trial, place: Workplace | None) -> Finished | None:
        """The row and dumps of this trial in another study, as those of this one; None if there are none."""
        held = self._held.pop(_key_of_trial(trial, place), None)
        if held is None:
            return None
        study, found = held
        origin = found.trial.get("reused_from") or f"{study} block {found.trial['block']}"
        own: dict[str, Any] = {
            "trial": trial.number,
            "block": trial.block,
            "position": trial.position,
            "setting": trial.setting_id,
            "arm": trial.arm,
        }
        row = found.trial | own | trial.prepared.setting.levels | {"reused_from": origin}
        dumps = [
            dump | {name: own[name] for name in ("trial", "block", "setting", "arm")} for dump in found.dumps
        ]
        return Finished(row, dumps)


def _key_of_trial(trial: Trial, place: Workplace | None) -> Key:
    asked = {name: str(value) for name, value in trial.prepared.setting.values.items()}
    folder = place.directory if place else None
    return (
        trial.prepared.plan_hash,
        _settings(asked),
        system.system_id(folder),
        system.versions_key(),
        trial.arm,
        trial.block,
    )


def _key_of_row(row: dict[str, Any]) -> Key | None:
    try:
        own = (row["plan"], _settings(row["asked"]), row["system"], row["versions"], row["arm"])
        return (*own, int(row["block"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _settings(asked: dict[str, str]) -> str:
    """The fields that a plan does not show: those of the run and of the system."""
    return repr(sorted((name, value) for name, value in asked.items()))
