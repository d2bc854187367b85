"""The commands in panels, in the order in which people need them. A command's module is imported when it is called.

The list of all commands, and completion of their names, import none of them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from workalike.errors import ErrorKind, WorkalikeError

PANELS = {
    "Replicate": {
        "replicate": "From a log to a verified replica: characterize, plan, run, compare, report.",
        "profile": "Run a command and write a Darshan log of its I/O.",
        "characterize": "Describe what a log's application does to storage, as a workload file without names.",
        "check": "Validate a workload and describe in words what it does; prove that it has none of a log's names.",
        "plan": "Resolve a workload for given ranks and scale into a plan, the engine's only input.",
        "run": "Perform a workload on a file system and record what was done and how long it took.",
        "compare": "Compare a replica with its original, or any two logs, counter by counter.",
        "engine": "Build the engine, the MPI program that performs replicas, and check what it can do here.",
    },
    "Study": {
        "study": "Measure a workload under many settings, in blocks of trials in random order.",
        "mix": "Run several workloads at the same time, and each alone, and show how much each is slowed down.",
        "bundle": "Pack workloads for a tender, or check what came back.",
        "evidence": "Measure a file system for others to see, in one file without names; or show such a file.",
    },
    "Diagnose": {
        "diagnose": "Say what is wrong with a job's I/O, what it costs in time, and what to change.",
    },
    "Fleet": {
        "fleet": "Many logs in one database: reports and a portal for a centre.",
        "anonymize": "Write logs that may be published: names, ids, hosts, users and times are replaced.",
    },
    "Exchange": {
        "import": "Convert another tool's input into a workload.",
        "export": "Write the command line or job file of another tool that comes nearest to a workload.",
    },
    "Expert": {
        "inspect": "Print the tree of a TyphonIO file, and check what the library leaves unchecked.",
        "calibrate": "Fit the file-size model of a backend to files written for it.",
        "docs": "Open the documentation in a browser, without a network.",
        "conformance": "Check that a program reads the workload format as workalike does.",
        "thresholds": "List the thresholds and limits of characterization; with logs, which workloads change with one.",
    },
}
"""Panel -> command -> what it does, in a line."""
SENTENCES = {name: (panel, text) for panel, commands in PANELS.items() for name, text in commands.items()}
MODULES = {"import": "import_"}
WHAT_NEXT = "what-next"
"""The hidden command for a file that is given without one."""


@dataclass(frozen=True)
class Listed:
    """A command in the list of commands, which is all that the list needs of it."""

    name: str
    help: str
    rich_help_panel: str
    short_help: str = ""
    hidden: bool = False
    deprecated: bool = False

    def get_short_help_str(self, limit: int = 45) -> str:
        """For completion."""
        return self.help if len(self.help) <= limit else f"{self.help[: limit - 3]}..."


class Commands(TyperGroup):
    """All commands. `workalike FILE` says what the file is."""

    _listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        return list(SENTENCES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._listing:
            panel, text = SENTENCES[cmd_name]
            return Listed(cmd_name, text, panel)
        if cmd_name not in SENTENCES and cmd_name != WHAT_NEXT:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = command_of(cmd_name)
        return self.commands[cmd_name]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in SENTENCES and not args[0].startswith("-"):
            if Path(args[0]).exists():
                args = [WHAT_NEXT, *args]
            elif "/" in args[0] or "." in args[0]:  # no name of a command has them
                raise WorkalikeError(ErrorKind.MISSING, "and no command", file=args[0], hint="check the path")
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        self._listing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._listing = False


def command_of(name: str) -> Any:
    """A command as its module registers it."""
    module = importlib.import_module(f"workalike.commands.{MODULES.get(name, name).replace('-', '_')}")
    app = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
    app.callback()(lambda: None)  # else an application of one command is that command
    module.register(app)
    group: Any = typer.main.get_command(app)
    return group.commands[name]
