"""Mixes: the file, the arithmetic by hand, and the real engine at a tiny scale."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from known_logs import OWN_LOGS
from needed import needs_engine

from workalike.errors import WorkalikeError
from workalike.launch.directories import Directories
from workalike.record.run_record import Record
from workalike.study.mix import perform
from workalike.study.mix.cost import cost_of
from workalike.study.mix.document import SCHEMA_FILE, Mix, read_mix, schema_text
from workalike.study.mix.measure import CopyResult, copy_result, fairness
from workalike.study.mix.page import write_page
from workalike.study.mix.perform import MixOptions, plans_of, run_mix
from workalike.study.mix.rounds import slowdown_of, summary

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "workalike"]
WRITES = """\
workalike: 2
ranks: {ranks}
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {{count: {count}, first: 0 s, every: 0.05 s}}
  content: {{fsyncs: {ranks}, streams: [{{direction: write, sizes: [8/rank x 64 KiB]}}]}}
"""


def dump(
    index: int, seconds: float, *, ranks: int = 2, written: int = 100, **counters: int
) -> dict[str, object]:
    times = {"count": 1, "total_s": seconds * ranks}
    return {
        "family": 0,
        "role": "checkpoint",
        "index": index,
        "ranks": ranks,
        "bytes_written": written,
        "bytes_read": 0,
        "due_s": 0,
        "start_s": 0,
        "end_s": 1,
        "late_s": 0,
        "kinds": {"write": times},
        "counters": {"WRITES": 4, **counters},
    }


def record(*dumps: dict[str, object], wall_s: float = 10.0) -> Record:
    return Record.model_validate(
        {"plan_ranks": 2, "processes": 2, "backend": "posix", "wall_s": wall_s, "dumps": list(dumps)}
    )


def test_slowdowns_by_hand(tmp_path: Path) -> None:
    """Dumps of 1 and 3 s become 2 and 4 s: 2 and 1.33 each, 6/4 in all; 4 of 10 s become 6 of 12."""
    found = copy_result(
        "a", 1, 0.5, record(dump(0, 1), dump(1, 3)), record(dump(0, 2), dump(1, 4), wall_s=12)
    )
    assert [each.slowdown for each in found.dumps] == [2, pytest.approx(4 / 3)]
    assert found.slowdown == 1.5
    assert (found.share_alone, found.share_together) == (pytest.approx(0.4), pytest.approx(0.5))
    assert found.slowest is not None and found.slowest.index == 1
    assert found.most_slowed is not None and found.most_slowed.index == 0
    assert (found.bytes_written, found.differences) == (200, ())
    document = summary([[found]])
    assert document["worst"] == {
        "name": "a",
        "copy": 1,
        "level": pytest.approx(0.95),
        "is_found": True,
        "slowdown": 1.5,
        "slowdown_low": None,
        "slowdown_high": None,
    }
    assert document["tail"]["dump"]["together_s"] == 4
    assert document["as_alone"]
    write_page(tmp_path / "mix.html", [[found]], document)
    page = (tmp_path / "mix.html").read_text()
    assert "Too few rounds to tell a slowdown from noise: the largest factor is that of a 1, 1.50." in page
    assert "One round: without repeats" in page


def rounds_of(*pairs: tuple[float, float]) -> list[list[CopyResult]]:
    """Rounds of one copy whose single dump takes (alone, side by side) seconds."""
    return [
        [copy_result("a", 1, 0, record(dump(0, alone)), record(dump(0, together)))]
        for alone, together in pairs
    ]


def test_rounds_have_an_interval_by_hand(tmp_path: Path) -> None:
    """Slowdowns 1, 2 and 4: mean log ln 2, deviation ln 2, so ± 4.3027 × ln 2 ÷ √3 (Student, 2 degrees of freedom).

    What a mean of times would say, (1 + 2 + 4) ÷ 3, is not the answer.
    """
    document = summary(rounds_of((1, 1), (1, 2), (1, 4)))
    (copy,), (workload,) = document["copies"], document["workloads"]
    reach = 4.302652730 / 3**0.5
    assert copy["slowdown"] == pytest.approx(2)
    assert (copy["slowdown_low"], copy["slowdown_high"]) == (
        pytest.approx(2 * 2**-reach),
        pytest.approx(2 * 2**reach),
    )
    assert [each["slowdown"] for each in copy["rounds"]] == [1, 2, 4]
    assert (workload["slowdown"], workload["slowdown_low"]) == (copy["slowdown"], copy["slowdown_low"])
    assert workload["slowest_dump_slowdown"] == pytest.approx(2)
    # 1, 2 and 4 s side by side: 95 % lie within 2 + 0.9 × 2 s, interpolated.
    assert (workload["slowest_dump_together_s"], workload["p95_dump_together_s"]) == (4, pytest.approx(3.8))
    assert (workload["slowest_dump_alone_s"], workload["p95_dump_alone_s"]) == (1, 1)
    write_page(tmp_path / "mix.html", rounds_of((1, 1), (1, 2), (1, 4)), document)
    page = (tmp_path / "mix.html").read_text()
    assert f"2.00 ({2 * 2**-reach:.2f} to {2 * 2**reach:.2f})" in page
    assert "3 rounds" in page


def test_no_slowdown_is_found_where_the_interval_holds_one(tmp_path: Path) -> None:
    """Slowdowns 1, 2 and 4 of two copies: their level is 97.5 %, Student's factor 6.2053, and the interval holds 1.

    It spans more than a factor of 100, so the page says that it cannot tell; that of 1, 1.2 and 1.4 does not.
    """
    rounds = [[*each, *each] for each in rounds_of((1, 1), (1, 2), (1, 4))]
    document = summary(rounds)
    reach = 6.205346816570703 / 3**0.5
    worst = document["worst"]
    assert worst["level"] == pytest.approx(0.975) and not worst["is_found"]
    assert worst["slowdown_low"] == pytest.approx(2 * 2**-reach)
    assert document["copies"][0]["slowdown_low"] > worst["slowdown_low"]
    write_page(tmp_path / "mix.html", rounds, document)
    page = (tmp_path / "mix.html").read_text()
    assert "Too few rounds to tell: the largest factor is that of a 1" in page
    assert "is slowed down most" not in page
    rounds = [[*each, *each] for each in rounds_of((1, 1), (1, 1.2), (1, 1.4))]
    write_page(tmp_path / "mix.html", rounds, summary(rounds))
    page = (tmp_path / "mix.html").read_text()
    assert "No slowdown was found" in page and "is slowed down most" not in page


def test_a_slowdown_of_the_largest_of_many(tmp_path: Path) -> None:
    """Slowdowns 1.9, 2 and 2.1 are far above 1. 1.2, 1.3 and 1.4 of one copy are, too, but of 20 not."""
    document = summary(rounds_of((1, 1.9), (1, 2), (1, 2.1)))
    assert document["worst"]["is_found"] and document["worst"]["level"] == pytest.approx(0.95)
    write_page(tmp_path / "mix.html", rounds_of((1, 1.9), (1, 2), (1, 2.1)), document)
    assert "is slowed down most, by a factor of 2.00" in " ".join((tmp_path / "mix.html").read_text().split())
    each = rounds_of((1, 1.2), (1, 1.3), (1, 1.4))
    assert summary(each)["worst"]["is_found"]
    assert not summary([copies * 20 for copies in each])["worst"]["is_found"]
    assert (
        summary(rounds_of((1, 2)))["worst"]["is_found"]
        and not summary(rounds_of((1, 0.9)))["worst"]["is_found"]
    )


def test_other_copies_may_be_slowed_down_for_sure(tmp_path: Path) -> None:
    """The largest factor, of slowdowns 1, 2 and 4, is not sure; that of 1.4, 1.5 and 1.6 is, also of two copies."""
    noisy, steady = rounds_of((1, 1), (1, 2), (1, 4)), rounds_of((1, 1.48), (1, 1.5), (1, 1.52))
    rounds = [[*a, *b] for a, b in zip(noisy, steady, strict=True)]
    document = summary(rounds)
    assert [copy["slowdown"] for copy in document["slowed_down"]] == [pytest.approx(1.5, rel=0.01)]
    write_page(tmp_path / "mix.html", rounds, document)
    page = (tmp_path / "mix.html").read_text()
    assert "1 of 2 runs is slowed down: a 1 takes 1.50 (" in page and "No slowdown was found" not in page
    assert summary(rounds_of((1, 2)))["slowed_down"] == []


def test_the_fairness_of_rounds_has_its_range() -> None:
    """Two copies: slowdowns 2 and 2 in the first round (1), 1 and 3 in the second (0.8)."""

    def copies(*slowdowns: float) -> list[CopyResult]:
        return [
            copy_result("a", number, 0, record(dump(0, 1)), record(dump(0, value)))
            for number, value in enumerate(slowdowns, 1)
        ]

    document = summary([copies(2, 2), copies(1, 3)])
    assert document["fairness"] == pytest.approx(0.9)
    assert (document["fairness_least"], document["fairness_most"]) == (pytest.approx(0.8), pytest.approx(1))
    assert document["workloads"][0]["copies"] == 2


def test_rounds_without_time_are_left_out() -> None:
    assert slowdown_of([None, 2.0, 2.0]).value == pytest.approx(2)
    assert slowdown_of([None, 0.0]).value is None
    assert slowdown_of([None, 3.0]).low is None


@pytest.mark.parametrize(
    ("slowdowns", "index"),
    [([2, 2, 2], 1.0), ([1, 3], 0.8), ([1, 1e12], 0.5), ([], None), ([None, 2], 1.0)],
)
def test_fairness_by_hand(slowdowns: list[float | None], index: float | None) -> None:
    """Of speeds 1 and 1/3: (4/3)² ÷ (2 × 10/9) = 0.8."""
    assert fairness(slowdowns) == (None if index is None else pytest.approx(index))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ([dump(0, 1, written=99)], "99 bytes written, alone 100"),
        ([dump(0, 1, WRITES=5)], "another WRITES"),
        ([], "not performed"),
        ([dump(0, 1), dump(1, 1)], "not performed alone"),
    ],
)
def test_other_bytes_and_counts_are_shown(after: list[dict[str, object]], words: str) -> None:
    found = copy_result("a", 1, 0, record(dump(0, 1)), record(*after))
    assert any(words in line for line in found.differences)
    assert not summary([[found]])["as_alone"]
    same = copy_result("a", 1, 0, record(dump(0, 1)), record(dump(0, 1)))
    (line,) = summary([[same], [found]])["copies"][0]["differences"]
    assert line.startswith("round 2, ")


def test_no_time_is_no_slowdown(tmp_path: Path) -> None:
    found = copy_result("a", 1, 0, record(dump(0, 0), wall_s=0), record(dump(0, 1), wall_s=0))
    assert (found.slowdown, found.share_alone) == (None, None)
    document = summary([[found]])
    assert document["fairness"] is None
    write_page(tmp_path / "mix.html", [[found]], document)
    assert "1 run side by side" in (tmp_path / "mix.html").read_text()


def test_the_schema_is_that_of_the_model() -> None:
    assert (ROOT / "schema" / SCHEMA_FILE).read_text() == schema_text(), (
        "run `python -m workalike.study.mix.document schema` and look at what has changed"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: b", "does not begin with `mix: 1`"),
        ("mix: 2\nworkloads: [{name: a, file: x}]", "line 1"),
        ("mix: 1\nworkloads: []", "line 2"),
        ("mix: 1\nworkloads:\n- {name: a, file: x, wieght: 2}", "line 3"),
        ("mix: 1\nworkloads:\n- {name: a, file: x}\n- {name: a, file: x}", "called a"),
        ("mix: 1\nworkloads:\n- {name: ../a, file: x}", "line 3"),
        ("mix: 1\nworkloads:\n- {name: a, file: x, weight: 1001}", "line 3"),
        ("mix: 1\nworkloads:\n- {name: a, file: x, start: -1 s}", "line 3"),
        ('mix: 1\nworkloads:\n- {name: a, file: "x\\0"}', "line 3"),
        ("mix: 1\nrepeats: 0\nworkloads:\n- {name: a, file: x}", "line 2"),
        ("mix: 1\nrepeats: 1001\nworkloads:\n- {name: a, file: x}", "line 2"),
        ("mix: [", "not YAML"),
    ],
)
def test_bad_mixes_name_the_place(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "mix.yaml").write_text(text)
    with pytest.raises(WorkalikeError, match=re.escape(words)) as error:
        read_mix(tmp_path / "mix.yaml")
    assert "\n" not in error.value.one_line()
    assert error.value.exit_code == 2


def test_a_mix_is_read(tmp_path: Path) -> None:
    (tmp_path / "mix.yaml").write_text(
        "mix: 1\nworkloads:\n- {name: a, file: x.yaml, start: 2 min, weight: 3}\n"
    )
    found = read_mix(tmp_path / "mix.yaml")
    assert isinstance(found, Mix)
    assert (found.workloads[0].start, found.workloads[0].weight, found.time_scale) == (120.0, 3, 1.0)
    assert found.repeats == 3


def test_the_cost_of_a_mix_by_hand(tmp_path: Path) -> None:
    """A round: `a` alone and twice, `b` alone and once, 3 MiB each. `b` begins 2 s later; plans wait 0.1 s."""
    (tmp_path / "w.yaml").write_text(WRITES.format(ranks=2, count=3))
    document = {"mix": 1, "repeats": 4, "workloads": [{"name": "a", "file": "w.yaml", "weight": 2}]}
    document["workloads"].append({"name": "b", "file": "w.yaml", "start": "2 s"})
    found = Mix.model_validate(document)
    cost = cost_of(found, plans_of(found, tmp_path))
    assert (cost.rounds, cost.runs, cost.bytes) == (4, 4 * 5, 4 * 5 * 3 * 2**20)
    assert cost.waiting_s == pytest.approx(4 * (0.1 + 0.1 + 2.1))
    assert "4 rounds of 5 runs: 60 MiB" in cost.text()


def mix(folder: Path, *options: object) -> subprocess.CompletedProcess[str]:
    command = [
        *COMMAND,
        "mix",
        str(folder / "mix.yaml"),
        "--dir",
        str(folder / "data"),
        "-o",
        str(folder / "out"),
    ]
    return subprocess.run([*command, *map(str, options)], capture_output=True, text=True, check=False)


@needs_engine
def test_copies_do_what_they_do_alone(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(WRITES.format(ranks=2, count=3))
    (tmp_path / "mix.yaml").write_text(
        "mix: 1\nworkloads:\n- {name: a, file: w.yaml, weight: 2}\n"
        "- {name: b, file: w.yaml, start: 0.2 s, ranks: 1, what_if: [checkpoint.growth=100%]}\n"
    )
    done = mix(tmp_path, "--json", "--repeats", 2)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "out" / "mix.json").read_text())
    assert found["rounds"] == 2
    assert [(copy["name"], copy["copy"], copy["ranks"]) for copy in found["copies"]] == [
        ("a", 1, 2),
        ("a", 2, 2),
        ("b", 1, 1),
    ]
    # 3 dumps of 2 ranks × 8 × 64 KiB; with growth 1, 2 and 4 times 1 MiB (one rank writes all of it).
    assert [copy["bytes_written"] for copy in found["copies"]] == [3 << 20, 3 << 20, 7 << 20]
    assert found["as_alone"]
    for copy in found["copies"]:
        assert 0 < copy["slowdown_low"] < copy["slowdown"] < copy["slowdown_high"]
        assert [len(each["dumps"]) for each in copy["rounds"]] == [3, 3]
    for number in (0, 1):
        started = [copy["rounds"][number]["started_s"] for copy in found["copies"]]
        assert started[2] >= 0.2 > started[0]
    # The second round runs side by side first.
    times = {
        folder: (tmp_path / "out" / folder / "run.json").stat().st_mtime_ns
        for folder in ("round-1/alone/a", "round-1/together/a-1", "round-2/together/a-1", "round-2/alone/a")
    }
    assert sorted(times, key=lambda folder: times[folder]) == list(times)
    assert 1 / 3 <= found["fairness"] <= 1
    assert list((tmp_path / "data").iterdir()) == []
    page = (tmp_path / "out" / "mix.html").read_text()
    assert "3 runs side by side" in page
    assert "<script" not in page
    assert all(link.startswith("http://www.w3.org/") for link in re.findall(r"https?://[^\"'\s<]+", page))


@needs_engine
def test_workloads_of_logs_do_what_they_do_alone(tmp_path: Path) -> None:
    """Three logs of our own: collective, a file per rank with reads, and STDIO."""
    lines = ["mix: 1", "time_scale: 0", "workloads:"]
    for name in ("checkpoints-4", "per-rank-4", "stdio-output-1"):
        (log,) = [log for log in OWN_LOGS if log.stem == name]
        subprocess.run(
            [*COMMAND, "characterize", log, "-o", tmp_path / f"{name}.yaml"], check=True, capture_output=True
        )
        lines.append(f"- {{name: {name}, file: {name}.yaml}}")
    (tmp_path / "mix.yaml").write_text("\n".join(lines))
    done = mix(tmp_path, "--json", "--backend", "posix", "--repeats", 1)
    assert done.returncode == 0, done.stderr
    copies = json.loads(done.stdout)["copies"]
    assert all(copy["as_alone"] for copy in copies)
    # 3 × 4 × 8 × 64 KiB by its source (tests/data/programs/checkpoints.c).
    assert copies[0]["bytes_written"] == 3 * 4 * 8 * 65536


@needs_engine
def test_one_failure_stops_all(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(WRITES.format(ranks=1, count=2))
    (tmp_path / "mix.yaml").write_text("mix: 1\nworkloads:\n- {name: a, file: w.yaml, weight: 2}\n")
    data = tmp_path / "data" / "mix-a-2"
    data.parent.mkdir()
    data.write_text("a file where the folder of the second copy should be")
    done = mix(tmp_path)
    assert done.returncode == 1
    assert "a 2" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in data.parent.iterdir()] == ["mix-a-2"]


@needs_engine
def test_an_empty_folder_of_others_stays(tmp_path: Path) -> None:
    """A mix removes the folders that it made, and leaves one of the same name that was there before."""
    data = tmp_path / "data"
    (data / "mix-a").mkdir(parents=True)
    (tmp_path / "a.yaml").write_text(WRITES.format(ranks=1, count=1))
    (tmp_path / "mix.yaml").write_text("mix: 1\nrepeats: 1\nworkloads: [{name: a, file: a.yaml}]\n")
    run_mix(read_mix(tmp_path / "mix.yaml"), tmp_path, MixOptions(Directories(data), tmp_path / "out"))
    assert [path.name for path in data.iterdir()] == ["mix-a"]


@needs_engine
def test_an_interrupt_stops_all_and_removes_the_data(tmp_path: Path) -> None:
    """Both copies have written their first dump, and wait for the second one."""
    (tmp_path / "w.yaml").write_text(WRITES.format(ranks=1, count=2).replace("0.05 s", "3 s"))
    (tmp_path / "mix.yaml").write_text("mix: 1\nworkloads:\n- {name: a, file: w.yaml, weight: 2}\n")
    command = [*COMMAND, "mix", "mix.yaml", "--dir", "data", "-o", "out"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job ignores it
    )
    lines = [tmp_path / "out" / "round-1" / "together" / name / "run.jsonl" for name in ("a-1", "a-2")]
    for _ in range(1200):
        if all(path.exists() and '"dump"' in path.read_text() for path in lines):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.count("\n") == 1
    assert list((tmp_path / "data").iterdir()) == []
    assert not (tmp_path / "out" / "mix.json").exists()


@needs_engine
def test_an_interrupt_keeps_the_rounds_that_have_finished(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(WRITES.format(ranks=1, count=2))
    (tmp_path / "mix.yaml").write_text("mix: 1\nworkloads:\n- {name: a, file: w.yaml}\n")
    command = [*COMMAND, "mix", "mix.yaml", "--dir", "data", "-o", "out", "--repeats", "1000"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(1200):
        if (tmp_path / "out" / "round-3").exists():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = json.loads((tmp_path / "out" / "mix.json").read_text())
    assert 2 <= kept["rounds"] < 1000
    assert len(kept["copies"][0]["rounds"]) == kept["rounds"]
    assert f"{kept['rounds']} rounds of 1000" in said
    assert f"{kept['rounds']} rounds" in (tmp_path / "out" / "mix.html").read_text()
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("backend", ["null", "record", "nonsense"])
def test_backends_that_cannot_be_slow_are_refused(tmp_path: Path, backend: str) -> None:
    (tmp_path / "w.yaml").write_text(WRITES.format(ranks=1, count=2))
    (tmp_path / "mix.yaml").write_text("mix: 1\nworkloads:\n- {name: a, file: w.yaml}\n")
    done = mix(tmp_path, "--backend", backend)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "out").exists()


def test_a_missing_workload_is_named(tmp_path: Path) -> None:
    (tmp_path / "mix.yaml").write_text("mix: 1\nworkloads:\n- {name: a, file: missing.yaml}\n")
    done = mix(tmp_path)
    assert done.returncode == 2
    assert "missing.yaml" in done.stderr


def test_a_run_that_fails_between_two_looks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the last run had ended nobody asked how: its record was missed in place of the reason."""

    def start(copy: perform._Copy, _: MixOptions) -> None:
        (copy.out / "stderr.txt").write_text("workalike: cannot write: /x: Read-only file system\n")
        copy.process = subprocess.Popen(["false"])
        copy.process.poll = ends_late(copy.process)  # type: ignore[method-assign]

    def ends_late(process: subprocess.Popen[bytes]) -> Callable[[], int | None]:
        """Running when it is looked at, and ended at the next question."""
        answers = iter([None])
        return lambda: next(answers, process.wait())

    monkeypatch.setattr(perform, "_start", start)
    (tmp_path / "w.yaml").write_text(WRITES.format(ranks=1, count=1))
    mix = Mix.model_validate({"workloads": [{"name": "a", "file": "w.yaml"}], "repeats": 1})
    with pytest.raises(WorkalikeError, match="Read-only file system") as error:
        run_mix(mix, tmp_path, MixOptions(Directories(tmp_path / "data"), tmp_path / "out"))
    assert error.value.exit_code == 1
