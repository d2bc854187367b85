"""The list of commands, which imports none of them, says what they say themselves; a file alone is explained."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from known_logs import find, own

from workalike.commands.catalogue import SENTENCES, command_of

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ROOT / "src" / "workalike" / "commands"
NO_COMMANDS = {"catalogue", "evidence_tables", "options", "outcome", "progress", "what_next"}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_list_says_what_the_command_says(name: str) -> None:
    """The sentence of the list begins as that of the help does; it may be shorter."""
    said, listed = command_of(name).help.split("\n\n")[0].replace("\n", " "), SENTENCES[name][1]
    words = min(5, len(listed.split()))
    assert said.split()[:words] == listed.split()[:words]


@pytest.mark.parametrize("name", SENTENCES)
def test_every_command_has_an_example(name: str) -> None:
    command = command_of(name)
    texts = [command.help, *(sub.help for sub in getattr(command, "commands", {}).values())]
    assert any(f"workalike {name}" in text for text in texts)


def test_every_module_of_a_command_is_listed() -> None:
    modules = {path.stem.rstrip("_") for path in COMMANDS.glob("[a-z]*.py")} - NO_COMMANDS
    assert {name for name in modules if not name.startswith("fleet_")} == set(SENTENCES)


def test_the_list_imports_no_command() -> None:
    code = (
        "import sys; sys.argv = ['workalike', '--help']\n"
        "from workalike.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith('workalike.commands.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['workalike.commands.catalogue']"


def shown(file: Path) -> str:
    command = [sys.executable, "-m", "workalike", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("file", "kind", "command"),
    [
        (find("example.darshan"), "a Darshan log of 2,048 ranks", "workalike diagnose "),
        (ROOT / "workloads/mphys-a.yaml", "a workload of 16 ranks", "workalike check "),
        (ROOT / "studies/striping.yaml", "a study", "workalike study check "),
    ],
)
def test_a_file_alone_is_explained(file: Path, kind: str, command: str) -> None:
    text = shown(file)
    assert kind in text and command in text


def test_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "a b.json").write_text(json.dumps({"format": "workalike-plan"}))
    assert f"workalike run '{tmp_path / 'a b.json'}'" in shown(tmp_path / "a b.json")
    (tmp_path / "data.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert "workalike inspect " in shown(tmp_path / "data.h5")
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 20)
    bad = subprocess.run(
        [sys.executable, "-m", "workalike", str(tmp_path / "noise")], capture_output=True, text=True
    )
    assert bad.returncode == 2 and len(bad.stderr.splitlines()) == 1
    gone = subprocess.run([sys.executable, "-m", "workalike", "gone.darshan"], capture_output=True, text=True)
    assert gone.returncode == 2 and "no such file: gone.darshan" in gone.stderr


def test_a_folder_of_logs_alone(tmp_path: Path) -> None:
    for name in ("checkpoints-4", "root-writes-4"):
        (tmp_path / f"{name}.darshan").write_bytes(own(name).read_bytes())
    text = shown(tmp_path)
    assert f"{tmp_path}: 2 Darshan logs" in text
    assert text.index("fleet ingest") < text.index("replicate")
