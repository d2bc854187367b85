"""Part 16 of the page of results: site, pages, acceptance, formats, release."""

from __future__ import annotations

from .definition import tests

ENTRIES = (
    tests(
        "page-agreement",
        "tests/report/test_pages_agree.py",
        "tests/support/page_checker.py",
        "tests/support/page_rules.py",
        "tests/support/page_rules_of_runs.py",
        "tests/support/page_cases.py",
        "src/workalike/study/report",
        "src/workalike/study/mix",
        "src/workalike/report",
        passing=(
            "pages of studies, joined studies, mixes and replicas, 66 fixed and 22 drawn runs (no difference, one point, "
            "huge spread, in memory, partial): sentences that the JSON beside a page contradicts",
            "0",
        ),
    ),
    tests(
        "acceptance",
        "tests/bundle/test_acceptance.py",
        "src/workalike/bundle",
        "examples/acceptance",
        passing=(
            "the sample tender, through bundle, run.sh and --collect: an honest bidder; a sloppy one; cheats who run in "
            "memory, run fewer bytes, have more memory, edit times, syncs or bytes of a record",
            "ok; deviates with the rule, each",
        ),
    ),
    tests(
        "formats",
        "tests/test_formats.py",
        "tests/data/formats",
        "src/workalike/workload",
        "src/workalike/fleet/upgrade.py",
        passing=(
            "a file of each version of workload, plan, record, fidelity, study, mix, bundle, fleet and evidence, as programs "
            "of their time wrote it; a newer version of each",
            "read; refused with the remedy",
        ),
    ),
    tests(
        "conformance",
        "tests/conformance",
        "src/workalike/conformance",
        "engine/core",
        passing=(
            "the workload format's cases: workalike; a reader of 150 lines that shares no code, on all cases it knows",
            "conforms; the same operations",
        ),
    ),
    tests(
        "task-pages",
        "tests/docs/test_task_pages.py",
        *(f"docs/{page}.md" for page in ("slurm", "acceptance", "study", "verdict", "exchange", "capture")),
        passing=(
            "command lines on the pages that answer eight tasks",
            "run by a test, or named with the test that does",
        ),
    ),
    tests(
        "site-search",
        "-m system tests/system/test_site_browser.py -k search",
        "docs/tutorial",
        "docs/site.css",
        "mkdocs.yml",
        "tools/site_hooks.py",
        passing=(
            "eight tasks and one more in the site's own search, a real browser",
            "a page that answers, within three",
        ),
    ),
)
