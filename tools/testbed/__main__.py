"""A parallel file system and a batch system on one machine, as root: `python3 tools/testbed start`.

It starts a CephFS of four storage daemons, which keep their data in memory, and mounts it. Several may run; each has a
name. What a killed command leaves, `stop` removes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from bed import RUNNING, Bed, all_beds, find_bed, new_bed, running_bed
from ceph import DATA, Ceph, Erasure
from limits import limit
from shell import TestbedError, runs
from slurm import Slurm

DAEMONS = 4
SIZE = 2**30
IN_FILES = 4 * 2**30
WIDTH = 2**17
NODES = 3


def main() -> int:
    options = _parser().parse_args()
    try:
        if os.geteuid() != 0:
            raise TestbedError("a testbed needs root: namespaces, mounts and traffic control")
        act: Callable[[argparse.Namespace], object] = options.act
        answer = act(options)
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("testbed: interrupted", file=sys.stderr)
        return 130
    if answer is not None:
        print(json.dumps(answer))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="testbed", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)

    def command(name: str, act: Callable[[argparse.Namespace], object], text: str) -> argparse.ArgumentParser:
        parser = commands.add_parser(name, help=text, description=text)
        parser.add_argument("--name", help="of the testbed [default: the only one; start: a new name]")
        parser.set_defaults(act=act)
        return parser

    start = command("start", _start, "start a CephFS and mount it; prints where, as JSON")
    start.add_argument(
        "--daemons", type=int, default=DAEMONS, choices=range(1, 9), help="storage daemons [4]"
    )
    start.add_argument("--size", type=int, help="bytes that each of them keeps [1 GiB; with --erasure 4 GiB]")
    start.add_argument(
        "--erasure",
        metavar="K+M",
        help="erasure-coded data: K parts and M of parity, such as 2+1; the daemons keep them in files",
    )
    start.add_argument(
        "--width",
        type=int,
        default=WIDTH,
        help="with --erasure: bytes that are coded at once [128 KiB, the most that FUSE writes in one piece]",
    )
    start.add_argument(
        "--no-cache",
        action="store_true",
        help="clients keep no data: each write goes to the daemons, as where several clients write one file",
    )
    start.add_argument(
        "--pin", action="store_true", help="make a pool on each daemon alone: only0, only1, ..."
    )
    command("stop", _stop, "end all of a testbed, and remove it")
    command("status", _status, "list the testbeds")
    rate = command("limit", _limit, "limit what a storage daemon receives and sends, each")
    rate.add_argument("osd", help="its number, or all")
    rate.add_argument("rate", help="such as 200mbit; none: no limit")
    wait = command("delay", _delay, "let a storage daemon wait before each operation")
    wait.add_argument("osd", help="its number, or all")
    wait.add_argument("seconds", type=float, help="0: none")
    client = command("client", _client, "mount it once more: another client, with a cache of its own")
    client.add_argument("folder", type=Path, help="an empty folder")
    client.add_argument("--remove", action="store_true", help="take the client away")
    where = command("where", _where, "the storage daemons that hold the first objects of files")
    where.add_argument("files", type=Path, nargs="+")
    where.add_argument("--objects", type=int, default=4)
    stored = command("objects", _objects, "the objects of a pool: inode, number and size")
    stored.add_argument("pool", nargs="?", default=DATA)
    command("counters", _counters, "operations and bytes of each storage daemon")
    slurm = command("slurm", _slurm, "a Slurm of several nodes, each with a client of its own")
    slurm.add_argument("what", choices=("start", "stop"))
    slurm.add_argument("--nodes", type=int, default=NODES, choices=range(1, 17), metavar="N", help="[3]")
    inside = command("run", _run, "run a command in the testbed's network, where its Slurm is reached")
    inside.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    return parser


def _interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _start(options: argparse.Namespace) -> object:
    bed = new_bed(options.name)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    # Outside of `try`: what exists already under this name is not ours to remove.
    bed.claim()
    try:
        bed.make()
        bed.save(cache=not options.no_cache)
        ceph = Ceph(bed)
        erasure = _erasure(options)
        ceph.start(options.daemons, options.size or (IN_FILES if erasure else SIZE), erasure)
        if options.pin:
            bed.save(pools=ceph.pin())
        bed.save(state=RUNNING)
    except BaseException:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave half of it
        _remove(bed)
        raise
    return _described(bed)


def _erasure(options: argparse.Namespace) -> Erasure | None:
    if options.erasure is None:
        return None
    parts, plus, more = options.erasure.partition("+")
    if not (plus and parts.isdigit() and more.isdigit() and int(parts) > 1 and int(more) > 0):
        raise TestbedError(f"--erasure {options.erasure}: give it as K+M, such as 2+1")
    if int(parts) + int(more) > options.daemons:
        raise TestbedError(f"--erasure {options.erasure} needs as many daemons: there are {options.daemons}")
    if options.width <= 0 or options.width % (4096 * int(parts)):
        raise TestbedError(f"--width is a multiple of {4096 * int(parts)} bytes")
    if options.pin:
        raise TestbedError("--pin makes pools of one copy: not with --erasure")
    return Erasure(int(parts), int(more), options.width)


def _remove(bed: Bed) -> None:
    Slurm(bed).stop()
    Ceph(bed).stop()
    bed.remove()


def _stop(options: argparse.Namespace) -> None:
    _remove(find_bed(options.name))


def _status(options: argparse.Namespace) -> object:
    return [_described(bed) for bed in all_beds() if options.name in (None, bed.name)]


def _described(bed: Bed) -> dict[str, object]:
    saved = bed.read()
    state = saved.get("state")
    monitor = any(True for _ in bed.processes())
    if not (state == RUNNING and monitor) and not runs(saved.get("starter", 0)):
        state = "left over"
    return {
        "name": bed.name,
        "state": state,
        "folder": str(bed.folder),
        "mount": str(bed.mount),
        **{name: saved[name] for name in ("daemons", "pools", "limits", "clients", "slurm") if name in saved},
    }


def _targets(bed: Bed, text: str) -> list[int]:
    if text == "all":
        return list(range(bed.read()["daemons"]))
    if not text.isdigit():
        raise TestbedError(f"{text!r} is not a storage daemon: give its number, or all")
    return [int(text)]


def _limit(options: argparse.Namespace) -> object:
    bed = running_bed(options.name)
    return limit(bed, _targets(bed, options.osd), options.rate)


def _delay(options: argparse.Namespace) -> None:
    bed = running_bed(options.name)
    if not 0 <= options.seconds <= 10:
        raise TestbedError("a delay is 0 to 10 seconds")
    for number in _targets(bed, options.osd):
        Ceph(bed).delay(number, options.seconds)


def _client(options: argparse.Namespace) -> None:
    ceph = Ceph(running_bed(options.name))
    folder = options.folder.absolute()
    if options.remove:
        ceph.unmount(folder)
    else:
        ceph.mount(folder)


def _where(options: argparse.Namespace) -> object:
    return Ceph(running_bed(options.name)).where(options.files, options.objects)


def _objects(options: argparse.Namespace) -> object:
    return Ceph(running_bed(options.name)).objects(options.pool)


def _counters(options: argparse.Namespace) -> object:
    return Ceph(running_bed(options.name)).counters()


def _slurm(options: argparse.Namespace) -> object:
    bed = running_bed(options.name)
    if options.what == "stop":
        Slurm(bed).stop()
        return None
    signal.signal(signal.SIGTERM, _interrupted)
    Slurm(bed).start(options.nodes)
    return _described(bed)


def _run(options: argparse.Namespace) -> None:
    bed = running_bed(options.name)
    command = options.words[1:] if options.words[:1] == ["--"] else options.words
    if not command:
        raise TestbedError("which command? testbed run -- COMMAND")
    slurm = Slurm(bed)
    if not slurm.configuration.exists():
        os.execvp("nsenter", bed.inside(*command))
    os.environ["SLURM_CONF"] = str(slurm.configuration)
    # Names of nodes are known to these commands alone; mounts of everybody stay visible.
    script = f'mount --bind {slurm.hosts} /etc/hosts && exec "$@"'
    seeing = ["unshare", "--mount", "--propagation", "slave", "sh", "-c", script, "sh"]
    os.execvp("nsenter", bed.inside(*seeing, *command))


if __name__ == "__main__":
    sys.exit(main())
