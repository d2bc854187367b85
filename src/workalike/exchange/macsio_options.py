"""MACSio's command line: the options of upstream and of the fork, and their parser.

See docs/reference/macsio-model.md#options.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.notes import Notes

MAX_INT = 2**31 - 1
SUFFIXES = "BKMGTP"
INTEGER = re.compile(rf"([0-9]{{1,20}})([{SUFFIXES}]?)", re.IGNORECASE)
REAL = re.compile(r"[0-9]{0,20}\.?[0-9]{0,40}(?:[eE][+-]?[0-9]{1,3})?")
RANK_OPTIONS = ("-n", "-np", "--np", "--ntasks")
LAUNCHERS = ("mpirun", "mpiexec", "srun", "aprun", "jsrun", "flux")


@dataclass(frozen=True)
class Option:
    """An option of MACSio.

    Attributes:
        kinds: one letter per argument: d integer with suffix, f real, s word.
        where: programs that have it: U upstream, F the fork, UF both.
        ignored: whether MACSio parses it and ignores it.
        refused: the reason why a workload cannot express it, as a hint.
    """

    kinds: str = ""
    where: str = "UF"
    ignored: bool = False
    refused: str = ""


READS_NOTHING = "the plugins hdf5 and typhonio cannot read; describe the load as a family of role restart"
OPTIONS = {
    "units_prefix_system": Option("s"),
    "interface": Option("s"),
    "parallel_file_mode": Option("sd"),
    "avg_num_parts": Option("f"),
    "mesh_decomp": Option("ddd", "U"),
    "part_size": Option("d"),
    "part_mesh_dims": Option("ddd", "U"),
    "part_dim": Option("d"),
    "part_type": Option("s"),
    "part_map": Option("s", ignored=True),
    "vars_per_part": Option("d"),
    "dataset_growth": Option("f", "U"),
    "plot_part_size": Option("d", "F"),
    "data_growth_sequence": Option("s", "F"),
    "num_plots": Option("d", "F"),
    "sleep_time": Option("s", "F"),
    "enable_trickle": Option("", "F", ignored=True),
    "topology_change_probability": Option("f", ignored=True),
    "meta_type": Option("s", ignored=True),
    "meta_size": Option("dd", ignored=True),
    "num_dumps": Option("d"),
    "max_dir_size": Option("d", ignored=True),
    "exercise_scr": Option(refused="SCR is a library of its own: use interface posix and sharing per-rank"),
    "compute_work_intensity": Option("d", "U"),
    "compute_time": Option("f", "U"),
    "debug_level": Option("d"),
    "log_file_name": Option("s"),
    "log_line_cnt": Option("dd"),
    "log_line_length": Option("d"),
    "timings_file_name": Option("s"),
    "alignment": Option("d", ignored=True),
    "filebase": Option("s"),
    "fileext": Option("s"),
    "read_path": Option("s", refused=READS_NOTHING),
    "num_loads": Option("d", refused=READS_NOTHING),
    "no_validate_read": Option(ignored=True),
    "read_mesh": Option("s", refused=READS_NOTHING),
    "read_vars": Option("s", refused=READS_NOTHING),
    "time_randomize": Option("", "U"),
    "time_randomize_seeds": Option("", "F"),
    "no-strict": Option(),
}
PLUGIN_OPTIONS = {
    "hdf5": {
        "show_errors": Option(),
        "compression": Option("ss"),
        "no_collective": Option(),
        "no_single_chunk": Option(ignored=True),
        "sieve_buf_size": Option("d"),
        "meta_block_size": Option("d"),
        "small_block_size": Option("d"),
        "log": Option(),
        "silo_fapl": Option("dd", refused="Silo's driver is another library: leave it out"),
    },
    "typhonio": {
        "no_collective": Option(),
        "romio_cb_write": Option("s", "U"),
        "romio_ds_write": Option("s", "U"),
        "striping_factor": Option("s", "U"),
    },
}


@dataclass
class CommandLine:
    """A parsed command line: the arguments of each option as text, and the launcher's number of ranks."""

    ranks: int | None = None
    given: dict[str, list[str]] = field(default_factory=dict)
    plugin: dict[str, list[str]] = field(default_factory=dict)
    unit: int = 1024

    def word(self, name: str, default: str) -> str:
        return self.given[name][0] if name in self.given else default

    def integer(self, name: str, default: int) -> int:
        return integer(self.given[name][0], name, self.unit) if name in self.given else default

    def integers(self, name: str) -> list[int]:
        return [integer(text, name, self.unit) for text in self.given[name]]

    def real(self, name: str, default: float) -> float:
        return real(self.given[name][0], name) if name in self.given else default

    def reals(self, name: str) -> list[float]:
        """A comma-separated list."""
        return [real(text.strip(), name) for text in self.given[name][0].split(",") if text.strip()]


def bad(message: str, hint: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.USAGE, message, place="MACSio command line", hint=hint)


def integer(text: str, name: str, unit: int = 1024) -> int:
    """The value of text such as `64K`, as MACSio reads it into 32 bits.

    Raises:
        WorkalikeError: USAGE.
    """
    match = INTEGER.fullmatch(text)
    if match is None:
        raise bad(f"--{name} {text[:40]!r} is not a number such as 80000 or 64K", "give one")
    power = max(SUFFIXES.find(match.group(2).upper()), 0) if match.group(2) else 0
    value = int(match.group(1)) * int(unit**power)
    if value > MAX_INT:
        raise bad(f"--{name} {text[:40]} does not fit into MACSio's 32 bits", f"{MAX_INT} is the maximum")
    return value


def real(text: str, name: str) -> float:
    if not text or REAL.fullmatch(text) is None or text == ".":
        raise bad(f"--{name} {text[:40]!r} is not a number", "give one")
    value = float(text)
    if value > 1e12:
        raise bad(f"--{name} {text[:40]} is too large", "give seconds, or a factor")
    return value


def parse(text: str, notes: Notes) -> CommandLine:
    """Parse a command line, with or without a launcher and the program's name before it.

    Raises:
        WorkalikeError: USAGE naming the option.
    """
    try:
        tokens = shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise bad(f"is not a command line: {error}", "check its quotes") from error
    line = CommandLine()
    tokens = _after_launcher(tokens, line)
    rest = _options(tokens, OPTIONS, line.given, notes)
    line.unit = 1000 if line.word("units_prefix_system", "binary") == "decimal" else 1024
    plugin = line.word("interface", "miftmpl")
    known = PLUGIN_OPTIONS.get(plugin)
    if known is None:
        hint = "use --interface hdf5 or typhonio"
        raise bad(f"plugin {plugin[:20]!r} has no counterpart here", hint)
    left = _options(rest, known, line.plugin, notes)
    if left:
        raise bad(f"{left[0][:40]!r} is unknown to plugin {plugin}", "leave it out")
    _same_dialect(line)
    return line


def _after_launcher(tokens: list[str], line: CommandLine) -> list[str]:
    """The tokens after `mpiexec -n 80 macsio`; stores the ranks in `line`."""
    names = [token.rsplit("/", 1)[-1] for token in tokens]
    program = next((i for i, name in enumerate(names) if name.startswith("macsio")), None)
    if program is None or not (program == 0 or names[0] in LAUNCHERS):
        return tokens
    for i, token in enumerate(tokens[:program]):
        option, _, value = token.partition("=")
        if option in RANK_OPTIONS:
            line.ranks = integer(value or tokens[i + 1], "np")
    return tokens[program + 1 :]


def _options(
    tokens: list[str], known: dict[str, Option], into: dict[str, list[str]], notes: Notes
) -> list[str]:
    """Read options up to `--plugin_args`; returns the tokens after it."""
    left = list(tokens)
    while left:
        token = left.pop(0)
        if token == "--plugin_args":
            return left
        if not token.startswith("--"):
            raise bad(f"{token[:40]!r} belongs to no option", "quote lists, or remove it")
        name = _name(token[2:], known, notes)
        option = known[name]
        if option.ignored:
            raise bad(f"MACSio parses --{name} and ignores it", "leave it out")
        if option.refused:
            raise bad(f"--{name} cannot be imported", option.refused)
        into[name] = _arguments(name, option, left)
    return []


def _name(given: str, known: dict[str, Option], notes: Notes) -> str:
    """The option that MACSio recognizes in a word: it compares as many characters as its own name has."""
    if given in known:
        return given
    longer = max((name for name in known if given.startswith(name)), key=len, default=None)
    begins = [name for name in known if name.startswith(given)] if given else []
    if longer is None and len(begins) > 1:
        raise bad(f"--{given[:40]} may be {' or '.join('--' + n for n in begins)}", "write it in full")
    if longer is None and not begins:
        hint = "`macsio --help` lists them; plugin options come after --plugin_args"
        raise bad(f"--{given[:40]} is not an option", hint)
    name = longer or begins[0]
    notes.say(f"--{given} is read as --{name}")
    return name


def _arguments(name: str, option: Option, left: list[str]) -> list[str]:
    values = []
    for i in range(len(option.kinds)):
        may_end = name == "parallel_file_mode" and i == 1  # `SIF` stands alone
        if not left or left[0].startswith("--") or (may_end and not INTEGER.fullmatch(left[0])):
            if may_end or (name in ("mesh_decomp", "part_mesh_dims") and i > 0):
                break
            raise bad(f"--{name} needs {len(option.kinds)} arguments", "give them")
        values.append(left.pop(0))
    if name == "compression" and values[0] not in ("gzip", "szip", "zfp"):
        raise bad(f"--compression {values[0][:20]!r} is unknown", "use gzip, szip or zfp")
    return values


def _same_dialect(line: CommandLine) -> None:
    """Refuse options of both upstream and the fork, which are two programs."""
    plugin = PLUGIN_OPTIONS[line.given["interface"][0]]
    every = [(name, OPTIONS[name]) for name in line.given] + [(name, plugin[name]) for name in line.plugin]
    upstream = [name for name, option in every if option.where == "U"]
    fork = [name for name, option in every if option.where == "F"]
    if upstream and fork:
        owners = f"--{upstream[0]} is upstream's, --{fork[0]} the fork's"
        raise bad(f"{owners}: no MACSio has both", "remove one of them")
