"""MACSio's command lines: import, refusals, and export."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from exchange_decks import C_GROWTH, C_SLEEPS, DECKS
from hypothesis import given, settings
from hypothesis import strategies as st

from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.document import text_of, workload_of
from workalike.exchange.macsio_in import read_macsio
from workalike.exchange.macsio_loop import Loop
from workalike.exchange.macsio_out import write_macsio
from workalike.exchange.shape import shapes_of
from workalike.workload.model import Workload
from workalike.workload.workload_file import parse_workload

MIB = 2**20
H5 = "--interface hdf5 --parallel_file_mode SIF 1"


def families(text: str, ranks: int | None = 8) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_macsio(text, ranks).document["families"]
    return found


def mesh(text: str) -> dict[str, Any]:
    found: dict[str, Any] = families(text)[0]["content"]["mesh"]
    return found


@pytest.mark.parametrize("name", DECKS)
def test_published_decks_come_back_as_they_went(name: str) -> None:
    """Import, export and import give the same workload, which is also read back from its file."""
    first = read_macsio(DECKS[name], None)
    workload = workload_of(first)
    exported = write_macsio(workload)
    assert not exported.notes.essential, exported.notes.all
    again = workload_of(read_macsio(exported.text, None))
    assert again == workload
    assert parse_workload(text_of(first, "MACSio")) == workload
    assert exported.text.strip().split() == write_macsio(again).text.strip().split()


def test_exported_decks_say_what_the_decks_said() -> None:
    words = write_macsio(workload_of(read_macsio(DECKS["mphys_c"], None))).text.split()
    option = dict(itertools.pairwise(words))
    assert words[:4] == ["mpiexec", "-n", "80", "macsio"]
    assert (option["--part_size"], option["--plot_part_size"], option["--vars_per_part"]) == (
        "75100",
        "36272",
        "43",
    )
    assert (option["--num_dumps"], option["--num_plots"]) == ("27", "28")
    assert (option["--data_growth_sequence"], option["--sleep_time"]) == (C_GROWTH, C_SLEEPS)


def test_a_deck_as_a_workload() -> None:
    read = read_macsio(DECKS["mphys_c"], None)
    checkpoint, states = read.document["families"]
    assert read.document["ranks"] == 80
    assert checkpoint["schedule"]["gaps"][:3] == ["0.1 s", "28.428095 s", "29.42478 s"]
    assert len(checkpoint["schedule"]["gaps"]) == 27
    assert checkpoint["growth"][:2] == [1.2536943267, 1.0320194285]
    assert checkpoint["content"]["mesh"] == {
        "type": "unstructured",
        "dimensions": 2,
        "part_size": "75100 B",
        "variables": 43,
        "collective": True,
    }
    assert (states["lifetime"], states["content"]["flushes"]) == ("appended", 80)
    assert states["schedule"]["start"][:3] == ["0 s", "0.1 s", "28.528095 s"]
    assert states["growth"][:3] == [1.0, 1.2536943267, 1.0320194285]  # one step later
    assert len(states["growth"]) == 27
    assert any("a whole interval" in note.text for note in read.notes.all)


def test_plots_between_few_checkpoints() -> None:
    """Deck E: 88 states over 4 blocks, the last as long as the third."""
    checkpoint, states = families(DECKS["mphys_e"], None)
    assert checkpoint["schedule"]["gaps"] == ["541.6453 s", "10.8971 s", "201.0781 s"]
    starts = [float(text[:-2]) for text in states["schedule"]["start"]]
    assert len(starts) == 88
    assert starts[22] == pytest.approx(541.6453)
    assert starts[21] == pytest.approx(541.6453 * 84 / 88, abs=1e-6)
    assert starts[66] == pytest.approx(541.6453 + 10.8971 + 201.0781)
    assert starts[87] == pytest.approx(starts[66] + 201.0781 * 84 / 88, abs=1e-6)


def test_the_loop_against_a_step_by_step_simulation() -> None:
    """D.1 and D.2 taken literally: a checkpoint comes before a plot of the same step, growth after the plot."""
    for checkpoints, plots in [(27, 28), (3, 88), (10, 4), (5, 1), (4, 7)]:
        factors = [1.1 + 0.01 * c for c in range(checkpoints)]
        loop = Loop(checkpoints, plots, tuple(float(c + 1) for c in range(checkpoints)))
        end, written, states, pending, size = (checkpoints + 1) * plots, 0, [], 1.0, 1.0
        for step in range(end):
            if step % plots == 0 and step:
                pending *= factors[written]
                written += 1
            if step % (checkpoints + 1) == 0:
                states.append(size)
                size, pending = size * pending, 1.0
        assert written == checkpoints
        grown = list(itertools.accumulate(loop.plot_growth(factors), lambda a, b: a * b, initial=1.0))
        assert grown == pytest.approx(states)


def test_the_factor_after_the_last_checkpoint_comes_back() -> None:
    """Only later plots show the growth after the last checkpoint."""
    deck = DECKS["mphys_e"] + " --data_growth_sequence 1.5,0.75,1.25"
    workload = workload_of(read_macsio(deck, None))
    assert workload.families[0].growth == [1.5, 0.75]
    assert 1.25 in (workload.families[1].growth or [])
    assert workload_of(read_macsio(write_macsio(workload).text, None)) == workload


def test_defaults_and_modes() -> None:
    (family,) = families("--interface typhonio", ranks=8)
    assert family["sharing"] == {"mode": "groups", "files": 4, "turns": "baton"}  # MIF 4
    assert family["schedule"] == {"count": 10, "first": "0 s", "every": "0 s"}
    assert family["content"]["mesh"] == {
        "type": "rectilinear",
        "dimensions": 2,
        "part_size": "80000 B",
        "variables": 20,
        "collective": False,
    }
    assert families("--interface hdf5 --parallel_file_mode MIF 64")[0]["sharing"]["files"] == 8
    assert families("--interface hdf5 --parallel_file_mode SIF")[0]["sharing"] == "shared"
    assert families("--interface hdf5 --parallel_file_mode SIF 2")[0]["sharing"] == {
        "mode": "groups",
        "files": 2,
    }
    assert mesh(H5)["geometry"] is False


def test_units_prefixes_and_plugin_arguments() -> None:
    assert mesh(f"{H5} --part_size 64K")["part_size"] == "65536 B"
    assert mesh(f"{H5} --units_prefix_system decimal --part_size 2M")["part_size"] == "2000000 B"
    read = read_macsio(f"{H5} --part_dims 3 --vars 9 --avg_num_parts 1.5", 8)  # MACSio accepts --part_dims
    assert read.document["families"][0]["content"]["mesh"]["dimensions"] == 3
    assert read.document["families"][0]["content"]["mesh"]["variables"] == 9
    assert read.document["families"][0]["content"]["mesh"]["parts"] == 1.5
    assert {n.text for n in read.notes.all} >= {
        "--part_dims is read as --part_dim",
        "--vars is read as --vars_per_part",
    }
    hints = "--romio_cb_write disable --romio_ds_write enable --striping_factor 8 --no_collective"
    (family,) = families(f"--interface typhonio --parallel_file_mode SIF 1 --plugin_args {hints}")
    assert family["tunable"] == {"collective_buffering": False, "data_sieving": True, "stripe_count": 8}
    assert family["content"]["mesh"]["collective"] is False


def test_upstream_options() -> None:
    (family,) = families(f"{H5} --num_dumps 4 --dataset_growth 1.5 --compute_time 2.5 --part_mesh_dims 30 40")
    assert family["schedule"] == {"count": 4, "first": "2.5 s", "every": "2.5 s"}
    assert family["growth"] == [1.5, 1.5, 1.5]
    assert family["content"]["mesh"]["part_dims"] == [30, 40]
    assert read_macsio(f"{H5} --compute_time 1 --compute_work_intensity 3", 4).notes.essential


def test_upstream_comes_back() -> None:
    text = f"mpiexec -n 8 macsio {H5} --num_dumps 4 --dataset_growth 1.5 --compute_time 2.5 --part_mesh_dims 30 40"
    workload = workload_of(read_macsio(text, None))
    exported = write_macsio(workload, "upstream")
    assert not exported.notes.essential, exported.notes.all
    assert workload_of(read_macsio(exported.text, None)) == workload


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "plugin 'miftmpl' has no counterpart"),
        ("--interface silo", "plugin 'silo' has no counterpart"),
        ("--interface exodus", "plugin 'exodus' has no counterpart"),
        (f"{H5} --meta_type amorphous", "MACSio parses --meta_type and ignores it"),
        (f"{H5} --meta_size 1 2", "MACSio parses --meta_size and ignores it"),
        (f"{H5} --alignment 4096", "MACSio parses --alignment and ignores it"),
        (f"{H5} --max_dir_size 3", "MACSio parses --max_dir_size and ignores it"),
        (f"{H5} --part_map f", "MACSio parses --part_map and ignores it"),
        (f"{H5} --topology_change_probability 0.5", "ignores it"),
        (f"{H5} --enable_trickle", "MACSio parses --enable_trickle and ignores it"),
        (f"{H5} --no_validate_read", "ignores it"),
        (f"{H5} --plugin_args --no_single_chunk", "MACSio parses --no_single_chunk and ignores it"),
        (f"{H5} --read_path x", "--read_path cannot be imported"),
        (f"{H5} --exercise_scr", "--exercise_scr cannot be imported"),
        (f"{H5} --dataset_growth 2 --num_plots 3", "--dataset_growth is upstream's, --num_plots the fork's"),
        (f"{H5} --part", "--part may be --part_size or --part_mesh_dims or"),
        (f"{H5} --nonsense 3", "--nonsense is not an option"),
        (f"{H5} --plugin_args --nonsense", "--nonsense is not an option"),
        (f"{H5} stray", "'stray' belongs to no option"),
        (f"{H5} --part_size", "--part_size needs 1 arguments"),
        (f"{H5} --part_size 3G", "does not fit into MACSio's 32 bits"),
        (f"{H5} --part_size 1e5", "is not a number"),
        (f"{H5} --part_size 4Q", "is not a number"),
        (f"{H5} --num_dumps 2000000", "more than 100000 dumps"),
        (f"{H5} --num_dumps 0", "writes nothing"),
        (f"{H5} --num_plots 3", "--num_plots without --plot_part_size crashes MACSio"),
        (f"{H5} --part_type torus", "--part_type 'torus' is unknown"),
        (f"{H5} --part_dim 4", "--part_dim 4"),
        (f"{H5} --vars_per_part 0", "leaves no variable"),
        (f"{H5} --avg_num_parts 0", "leaves no part"),
        (f"{H5} --sleep_time 1,x", "--sleep_time 'x' is not a number"),
        (f"{H5} --sleep_time -1", "--sleep_time '-1' is not a number"),
        (f"{H5} --data_growth_sequence 1,0", "has a 0"),
        (f"{H5} --part_mesh_dims 1 4", "--part_mesh_dims 1 4"),
        ("--interface hdf5 --parallel_file_mode MIFFPP", "is not implemented in MACSio"),
        ("--interface hdf5 --parallel_file_mode MIF", "needs its number of files"),
        ("--interface hdf5 'unclosed", "is not a command line"),
        ("--interface typhonio --plugin_args --striping_factor many", "not a number of targets"),
    ],
)
def test_refusals_are_one_line(text: str, what: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        read_macsio(text, 8)
    assert caught.value.kind is ErrorKind.USAGE
    assert what in caught.value.message
    assert caught.value.hint
    assert "\n" not in caught.value.one_line()


def test_ranks_must_be_known() -> None:
    with pytest.raises(WorkalikeError, match="no number of ranks"):
        read_macsio(H5, None)
    assert read_macsio(f"srun --ntasks=12 ./macsio {H5}", None).document["ranks"] == 12
    assert read_macsio(f"mpiexec -n 12 ./macsio {H5}", 3).document["ranks"] == 3


def test_notes_stand_in_the_file_as_comments(tmp_path: Path) -> None:
    read = read_macsio(f"{H5} --num_dumps 1", 4)
    text = text_of(read, "MACSio")
    assert text.startswith("# Imported from MACSio.\n# Note: MACSio's HDF5 plugin writes variables without")
    assert parse_workload(text).ranks == 4


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12),
    st.integers(0, 12),
    st.lists(st.integers(0, 10**7).map(lambda n: n / 1000), max_size=14),
    st.lists(st.sampled_from([1.0, 1.5, 0.75, 1.0320194285]), max_size=12),
    st.sampled_from(["SIF 1", "MIF 3"]),
)
def test_any_fork_command_line_comes_back(
    checkpoints: int, plots: int, sleeps: list[float], growth: list[float], mode: str
) -> None:
    text = f"--interface typhonio --parallel_file_mode {mode} --num_dumps {checkpoints} --part_size 8000"
    text += f" --num_plots {plots} --plot_part_size 4000" if plots else ""
    text += f" --sleep_time {','.join(map(str, sleeps))}" if sleeps else ""
    text += f" --data_growth_sequence {','.join(map(str, growth))}" if growth else ""
    workload = workload_of(read_macsio(text, 6))
    exported = write_macsio(workload)
    again = workload_of(read_macsio(exported.text, None))
    assert _rounded(again) == _rounded(workload), exported.text


def _rounded(workload: Workload) -> list[Any]:
    """Times and growth agree to nine digits, because products of factors are divided again."""
    return [
        (
            round(workload.runtime, 5),
            family.sharing,
            [round(start, 5) for start in family.schedule.starts()],
            [round(factor, 9) for factor in family.growth or [1.0] * (family.schedule.dumps - 1)],
            family.content,
        )
        for family in workload.families
    ]


@pytest.mark.parametrize(
    ("name", "checkpoint", "states"),
    [
        ("mphys_a", 407 * MIB, 50 * 62.4 * MIB),
        ("mphys_c", 257.7 * MIB, 19.43 * 1024 * MIB),  # states one step later, near-square parts
        ("mphys_e", 7.70 * 1024 * MIB, 1.303 * 1024 * MIB),
    ],
)
def test_decks_have_the_bytes_of_the_facts(name: str, checkpoint: float, states: float) -> None:
    """Bytes of the first checkpoint and of all states, as in docs/reference/macsio-model.md#part-shapes and #growth."""
    shapes = shapes_of(workload_of(read_macsio(DECKS[name], None)))
    assert shapes[0].bytes_of(0) == pytest.approx(checkpoint, rel=0.007)
    total = sum(shapes[1].bytes_of(dump) for dump in range(len(shapes[1].starts)))
    assert total == pytest.approx(states, rel=0.007)


def test_settings_of_the_hdf5_plugin_are_tunables_and_come_back() -> None:
    line = f"{H5} --plugin_args --sieve_buf_size 64K --meta_block_size 8192 --compression gzip minsize=10,level=4"
    workload = workload_of(read_macsio(line, 4))
    tunable = workload.families[0].tunable
    assert (tunable.sieve_buffer, tunable.metadata_block) == (65536, 8192)
    assert (tunable.deflate, tunable.layout) == (4, "chunked")
    words = write_macsio(workload).text.split()
    assert "--compression gzip level=4" in " ".join(words)
    assert workload_of(read_macsio(" ".join(words), None)) == workload


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("--compression szip level=4", "only gzip is in every HDF5"),
        ("--no_collective --compression gzip level=4", "only in collective writes"),
        ("--small_block_size 4096", "another block"),
    ],
)
def test_settings_of_the_hdf5_plugin_that_are_lost(options: str, word: str) -> None:
    found = read_macsio(f"{H5} --plugin_args {options}", 4)
    assert any(word in note.text for note in found.notes.all)
    assert workload_of(found).families[0].tunable.deflate is None


@pytest.mark.parametrize("parameters", ["level=10", "level=", "speed=3", "level=4;"])
def test_unknown_parameters_of_compression(parameters: str) -> None:
    with pytest.raises(WorkalikeError, match="compression"):
        read_macsio(f"{H5} --plugin_args --compression gzip '{parameters}'", 4)
