"""The suite of a made-up centre with six known classes of jobs."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from workalike.errors import WorkalikeError
from workalike.fleet.archive import archive
from workalike.fleet.generate.logs import write_fleet
from workalike.fleet.ingest import ingest
from workalike.fleet.report.period import Period
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Store, open_or_make
from workalike.fleet.suite.choice import choose, rand_index
from workalike.fleet.suite.features import measured
from workalike.fleet.suite.medoids import distances, medoids
from workalike.fleet.suite.page import suite_page
from workalike.fleet.suite.write import whole_weights, write_suite
from workalike.study.mix.document import read_mix
from workalike.workload.workload_file import read_workload

JOBS = 120


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("centre")
    write_fleet(folder, JOBS)
    store = open_or_make(folder / "db", "")
    ingest(store, [folder / "logs"], read_site(folder / "site.yaml"), folder / "site.yaml", jobs=1)
    return store


def test_six_known_classes_are_found(centre: Store) -> None:
    connection = centre.connect()
    found = measured(connection, Period())
    choice = choose(found, 6, resamples=20)
    programs = dict(connection.execute("SELECT log_id, application FROM log").fetchall())
    classes = [{programs[int(found.log_ids[row])] for row in each.members} for each in choice.classes]
    assert sorted(map(tuple, classes)) == [
        (name,) for name in ("chemistry", "climate", "genomes", "lattice", "particles", "turbulence")
    ]
    assert sum(len(each.members) for each in choice.classes) == len(found.log_ids) == JOBS
    assert choice.agreement > 0.9 and min(each.found_again for each in choice.classes) > 0.9
    assert all(share > 0.95 for share in choice.coverage.values())
    for each in choice.classes:  # what the class did, in jobs like its representative
        assert each.copies == pytest.approx(len(each.members), rel=0.5)


def test_too_few_cover_less_and_too_many_are_less_stable(centre: Store) -> None:
    found = measured(centre.connect(), Period())
    few, right, many = (choose(found, count, resamples=20) for count in (2, 6, 12))
    assert few.coverage["jobs"] < 0.8 < right.coverage["jobs"]
    assert many.agreement < right.agreement


def test_the_folder_is_for_a_tender(centre: Store, tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "workalike", "fleet", "suite", "--db", str(centre.folder), "--k", "6", "-o", str(tmp_path),
    ]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Rand index" in said and "lattice of cy" in said
    mix = read_mix(tmp_path / "MIX.yaml")
    assert len(mix.workloads) == 6 and 15 <= sum(part.weight for part in mix.workloads) <= 25
    assert {read_workload(tmp_path / part.file).ranks for part in mix.workloads} == {32, 64, 128, 192, 256}
    everything = "".join(path.read_text() for path in tmp_path.iterdir())
    for name in ("lattice", "genomes", "scratch", "chk", "eos", "ada", "flo", "lattice of cy"):
        assert not re.search(rf"\b{name}\b", everything), name
    page = (tmp_path / "suite.html").read_text()
    tags: list[str] = []
    reader = HTMLParser()
    reader.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    reader.feed(page)
    assert "script" not in tags and "link" not in tags and tags.count("circle") == JOBS
    assert len(json.loads((tmp_path / "suite.json").read_text())["classes"]) == 6


def test_logs_that_are_gone_are_taken_from_archives_or_from_the_nearest_job(tmp_path: Path) -> None:
    write_fleet(tmp_path, 40)
    store = open_or_make(tmp_path / "db", "")
    ingest(store, [tmp_path / "logs"], Site(), jobs=1)
    connection = store.connect()
    found = measured(connection, Period())
    choice = choose(found, 3, resamples=2)
    first = choice.classes[0]
    [(path,)] = connection.execute(
        "SELECT path FROM source WHERE log_id = ?", [int(found.log_ids[first.representative])]
    ).fetchall()
    Path(path).rename(tmp_path / "kept")
    members = write_suite(store, found, choice, tmp_path / "a", archives=None, copies=10)
    assert [member.stood_in for member in members] == [True, False, False]
    assert "nearest log" in suite_page(found, choice, members)
    (tmp_path / "kept").rename(path)
    archive(store, tmp_path / "archive", 2e9, remove=True)
    with pytest.raises(WorkalikeError, match="--archive"):
        write_suite(store, found, choice, tmp_path / "b", archives=None, copies=10)
    members = write_suite(store, found, choice, tmp_path / "c", archives=tmp_path / "archive", copies=10)
    assert not any(member.stood_in for member in members)


def test_an_empty_period_is_said(centre: Store) -> None:
    with pytest.raises(WorkalikeError, match="no log of the period"):
        choose(measured(centre.connect(), Period(0.0, 1.0)), 6)


@pytest.mark.parametrize("seed", range(6))
def test_medoids_are_as_good_as_all_choices_tried(seed: int) -> None:
    random = np.random.default_rng(seed)
    between = distances(random.normal(size=(14, 3)))
    weights = random.uniform(0.1, 5, 14)

    def cost(chosen: tuple[int, ...]) -> float:
        return float(between[list(chosen)].min(axis=0) @ weights)

    best = min(cost(chosen) for chosen in itertools.combinations(range(14), 3))
    assert cost(tuple(medoids(between, weights, 3).tolist())) <= 1.1 * best


def test_the_rand_index_by_hand() -> None:
    halves = np.array([0, 0, 1, 1])
    assert rand_index(halves, np.array([1, 1, 0, 0]), np.ones(4)) == 1.0
    assert rand_index(halves, np.array([0, 1, 0, 1]), np.ones(4)) == pytest.approx(0.0)


def test_weights_are_whole_and_in_proportion() -> None:
    assert whole_weights([50.0, 30.0, 0.1], 16) == [10, 6, 1]
