"""Limits on what each storage daemon receives and sends, by traffic control on the namespace's loopback."""

from __future__ import annotations

import re

from bed import Bed, words
from ceph import address
from shell import TestbedError, tried

RATE = re.compile(r"[1-9][0-9]{0,5}(kbit|mbit|gbit)")
NONE = "none"
BURST = "128k"
"""Of the loopback's packets of 64 KiB, two."""


def limit(bed: Bed, targets: list[int], rate: str) -> dict[str, str]:
    """Limit storage daemons to a rate in each direction; `none` ends it. Returns all limits.

    Raises:
        TestbedError: no such daemon or rate.
    """
    if rate != NONE and not RATE.fullmatch(rate):
        raise TestbedError(f"{rate!r} is not a rate: for instance 200mbit, or none")
    daemons = bed.read()["daemons"]
    if wrong := [number for number in targets if not 0 <= number < daemons]:
        raise TestbedError(f"there is no storage daemon {wrong[0]}: they are 0 to {daemons - 1}")
    limits: dict[str, str] = bed.read().get("limits", {}) | {str(number): rate for number in targets}
    limits = {number: limit for number, limit in sorted(limits.items()) if limit != NONE}
    tried(bed.inside("tc", "qdisc", "delete", "dev", "lo", "root"))
    if limits:
        bed.run("tc", "-batch", "-", given=words(*_rules(limits)))
    bed.save(limits=limits)
    return limits


def _rules(limits: dict[str, str]) -> list[tuple[object, ...]]:
    """A class for each daemon and direction; other traffic has none, and passes."""
    rules: list[tuple[object, ...]] = [("qdisc", "add", "dev", "lo", "root", "handle", "1:", "htb")]
    for text, rate in limits.items():
        number = int(text)
        for base, side in ((0x10, "dst"), (0x20, "src")):
            name = f"1:{base + number:x}"
            shape = ("htb", "rate", rate, "burst", BURST, "cburst", BURST)
            rules.append(("class", "add", "dev", "lo", "parent", "1:", "classid", name, *shape))
            match = ("u32", "match", "ip", side, f"{address(number)}/32", "flowid", name)
            rules.append(
                ("filter", "add", "dev", "lo", "parent", "1:", "protocol", "ip", "prio", "1", *match)
            )
    return rules
