"""Numbers in site files that Python cannot read: an error with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.diagnose.site import read_site
from workalike.errors import WorkalikeError
from workalike.fleet.site import read_site as read_fleet_site


@pytest.mark.parametrize("number", ["9" * 100_000, "-" + "9" * 100_000, "1_" * 50_000 + "1"])
def test_numbers_of_many_digits(tmp_path: Path, number: str) -> None:
    (tmp_path / "site.toml").write_text(f"[job]\nranks_per_node = {number}\n")
    with pytest.raises(WorkalikeError, match=r"site.toml: line 2: has a number of 100,00\d digits"):
        read_site(tmp_path / "site.toml")
    (tmp_path / "site.yaml").write_text(f"name: a\nfirst_year: {number}\n")
    with pytest.raises(WorkalikeError, match=r"site.yaml: line 2: not YAML: a number of 100,00\d digits"):
        read_fleet_site(tmp_path / "site.yaml")


def test_documents_that_are_nested_too_deeply(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("a = " + "[" * 100_000 + "\n")
    with pytest.raises(WorkalikeError):
        read_site(tmp_path / "site.toml")
    (tmp_path / "site.yaml").write_text("a: " + "[" * 100_000 + "\n")
    with pytest.raises(WorkalikeError):
        read_fleet_site(tmp_path / "site.yaml")
