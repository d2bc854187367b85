# The targets that people and CI use; docs/architecture.md says where things are.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_LOG := build/demo-log/darshan/examples/example_logs/example.darshan
# PyDarshan has no wheels for Python above 3.12, though nothing in them depends on it: Python, and a C library used by cffi.
PYDARSHAN_IS_KNOWN = $(BIN)/python -c 'import sys, importlib.util as u; sys.exit(sys.version_info >= (3, 13) and not u.find_spec("darshan"))'

# Without compiled modules on disk, each command that a test starts compiles all of them again: a third of its time.
export PYTHONDONTWRITEBYTECODE :=

# Two rules install into .venv and build in one folder.
.NOTPARALLEL:
.PHONY: help build docs docs-serve demo demo-fleet paper-studies test test-system test-long test-trixie coverage sanitize tidy lint format schema benchmarks benchmarks-check dist wheels release-check clean

help:
	@echo "make build        .venv with workalike and workalike-engine"
	@echo "make demo         replicate a real log of 2,048 ranks at small scale, and show how close it came"
	@echo "make paper-studies  the paper's studies of striping and weak scaling, on five file systems of this machine"
	@echo "make demo-fleet   a made-up fleet of 5,000 jobs in a database, its report, and how to start the portal"
	@echo "make test         the tests (about 10 minutes); make test-system, make test-long for the others"
	@echo "make test-trixie  the tests on Debian 13, in a folder (as root)"
	@echo "make coverage     line coverage of Python by the tests"
	@echo "make lint format  ruff, mypy, clang-format; make tidy; make sanitize for engine and capture"
	@echo "make benchmarks   measure what is missing or stale in docs/results.md (BENCHMARKS='NAME ...' or --all, --long);"
	@echo "                  make benchmarks-check only lists it"
	@echo "make docs         build/site, the documentation as a site; make docs-serve shows it in a browser"
	@echo "make wheels       dist/wheels/ with wheels for x86-64 and ARM64 that need no compiler"
	@echo "make release-check  all that stands between main and a release; leaves the tag and the upload to a person"
	@echo "make dist         dist/ with an sdist and a wheel for machines like this one"

SOURCES := pyproject.toml CMakeLists.txt $(shell find engine capture counting -type f 2>/dev/null)
MAKE_VENV = test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || \
	{ rm -rf $(VENV); echo "no virtual environment: install the venv module of $(PYTHON) (Debian: python3-venv), or make PYTHON=..." >&2; exit 1; }
# pip says what failed, over many lines; this says what to do.
OR_NO_INDEX = || { echo "pip failed; if it reached no index of packages, set PIP_INDEX_URL, or PIP_FIND_LINKS to a folder of wheels" >&2; exit 1; }
# The engine only where it is asked for: `pip install` alone leaves it out.
INSTALL = $(BIN)/python -m pip install --quiet --no-build-isolation --config-settings=cmake.define.WORKALIKE_ENGINE=ON --editable

build: $(VENV)/.built

$(VENV)/.built: $(SOURCES)
	tools/install-packages tests
	$(MAKE_VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.10,<1" "nanobind>=2,<3" $(OR_NO_INDEX)
	$(PYDARSHAN_IS_KNOWN) || $(BIN)/python -m pip install --quiet --no-deps --only-binary :all: --python-version 3.12 \
		--target "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" "darshan>=3.4.7,<4" $(OR_NO_INDEX)
	$(INSTALL) ".[test]" $(OR_NO_INDEX)
	@touch $@ $(VENV)/.demo

# What the demo needs: no packages of tests, and of PyDarshan only its logs.
$(VENV)/.demo: $(SOURCES)
	@echo "installing what the build needs, and building: three minutes on two cores"
	tools/install-packages
	$(MAKE_VENV)
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.10,<1" "nanobind>=2,<3" $(OR_NO_INDEX)
	$(INSTALL) ".[report]" $(OR_NO_INDEX)
	@touch $@

$(DEMO_LOG): | $(VENV)/.demo
	mkdir -p $(@D)
	cp $(VENV)/lib/python3*/site-packages/$(@:build/demo-log/%=%) $@ 2>/dev/null || \
	$(BIN)/python -m pip install --quiet --no-deps --only-binary :all: --python-version 3.12 --target build/demo-log --upgrade \
		"darshan>=3.4.7,<4" $(OR_NO_INDEX)

demo: $(VENV)/.demo $(DEMO_LOG)
	rm -rf demo
	$(BIN)/workalike replicate $(DEMO_LOG) -o demo

# The documentation as a site, in build/site; `make docs-serve` shows it in a browser, with its search.
docs: build
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

docs-serve: docs
	@echo "http://127.0.0.1:8000/  (Ctrl-C ends it)"
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000

# Files of tests go to three processes, for two cores: most tests wait for programs that they start.
# PYTEST_OPTIONS adds options.
IN_PARALLEL := -n 3 --dist loadfile
PYTEST_OPTIONS ?=
test: build
	for folder in build/cp*; do cmake --build $$folder --target workalike-unit-tests; done
	$(BIN)/python -m pytest -q $(IN_PARALLEL) -m "not system and not long" $(PYTEST_OPTIONS) tests

test-system: build
	tools/install-system-packages
	$(BIN)/python -m pytest -q -m "system and not long" tests

# Property tests search for new examples; what they find belongs in a test of its own.
test-long: build sanitize tidy test-trixie
	WORKALIKE_EXPLORE=1 $(BIN)/python -m pytest -q $(IN_PARALLEL) -m "not system and not long" tests/characterize tests/plan tests/workload tests/exchange tests/darshan
	$(BIN)/python -m pytest -q -n 3 --dist worksteal -m "long and not system" tests
	$(BIN)/python -m pytest -q -m "long and system" tests
	$(BIN)/python tests/mutation/score.py --count 200 --jobs 2 --least 80

# A made-up fleet of 5,000 jobs, ingested. The last line says how to see it in a browser.
demo-fleet: build
	rm -rf demo-fleet
	$(BIN)/workalike fleet generate -o demo-fleet --jobs 5000
	$(BIN)/workalike fleet ingest demo-fleet/logs --db demo-fleet/db --site demo-fleet/site.yaml
	$(BIN)/workalike fleet report --db demo-fleet/db
	@echo "the portal: $(BIN)/workalike fleet serve --db demo-fleet/db --site demo-fleet/site.yaml"

# The workload-replication paper's Figs. 5 to 9 on five file systems of this machine; as root, about an hour. It goes on
# where it was interrupted.
paper-studies: build
	$(BIN)/python benchmarks/paper_studies.py

# The tests of `make test` once more under coverage, with the processes that they start; writes a result.
coverage: build
	$(BIN)/python benchmarks/line_coverage.py

# A second stack: Debian 13 with Open MPI 5, HDF5 1.14, ADIOS2, GCC 14 and Python 3.13, in a folder of its own. As root.
test-trixie:
	tools/check-bare-debian trixie test

# The engine's tests and those of capture under AddressSanitizer and UBSan. Tests of memory are left out, since the
# sanitizer holds memory itself. So is capture of HDF5 and PnetCDF: libraries that they need call us in constructors
# before the sanitizer is initialised. And so are long tests: the sanitizer would make hours of them.
SANITIZED := $(addprefix tests/capture/test_, posix.py stdio.py pause.py processes.py events.py lustre.py mpi.py hard_cases.py other_files.py)
sanitize: build
	cmake --preset sanitize
	cmake --build --preset sanitize
	WORKALIKE_ENGINE=$(CURDIR)/build/sanitize/workalike-engine ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
		$(BIN)/python -m pytest -q $(IN_PARALLEL) -m "not long" tests/engine --deselect tests/engine/test_calls.py::test_descriptors_and_memory_do_not_grow
	WORKALIKE_CAPTURE_LIBRARY=$(CURDIR)/build/sanitize/libworkalike-capture.so ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 \
		$(BIN)/python -m pytest -q $(IN_PARALLEL) -m "not long" $(SANITIZED) --deselect tests/capture/test_mpi.py::test_library_needs_no_mpi \
		--deselect tests/capture/test_other_files.py::test_libraries_lose_nothing \
		--deselect tests/capture/test_hard_cases.py::test_a_process_without_memory_for_counters_is_not_said_to_be_idle

schema: build
	$(BIN)/python -m workalike.exchange.schemas schema
	$(BIN)/python -m workalike.study.schema schema
	$(BIN)/python -m workalike.study.mix.document schema
	$(BIN)/python -m workalike.evidence.document schema
	$(BIN)/python -m workalike.diagnose.pages docs/findings schema/diagnosis.schema.json

# clang-tidy over the engine and the core, as far as they are compiled here. It takes minutes, so it is not a part of lint.
tidy: build
	tools/install-packages clang-tidy
	cmake --preset dev
	grep -o '"file": "[^"]*' build/dev/compile_commands.json | cut -d '"' -f 4 | grep "^$(CURDIR)/engine/" | sort -u \
		| xargs -n 4 -P 2 clang-tidy -p build/dev --quiet --warnings-as-errors='*'

lint: build
	$(BIN)/ruff check src tests benchmarks examples tools/testbed
	$(BIN)/ruff format --check src tests benchmarks examples tools/testbed
	$(BIN)/mypy
	tools/check-cpp

format: build
	$(BIN)/ruff check --fix src tests benchmarks examples tools/testbed
	$(BIN)/ruff format src tests benchmarks examples tools/testbed
	tools/check-cpp --fix

# docs/results.md is generated from docs/results/*.json, which the benchmarks write.
BENCHMARKS ?=
benchmarks: build
	$(BIN)/python benchmarks/run.py $(BENCHMARKS)

benchmarks-check: build
	$(BIN)/python benchmarks/run.py --list

# The wheel is built from the sdist, which proves that the sdist is complete. With the engine, for machines like this one:
# make dist DIST=-Ccmake.define.WORKALIKE_ENGINE=ON
DIST ?=
dist: build
	rm -f dist/*.tar.gz dist/*.whl
	$(BIN)/python -m build --no-isolation $(DIST)

# Wheels that need no compiler, in dist/wheels: x86-64 and ARM64, Python 3.11 and from 3.12 on.
wheels: build
	$(BIN)/python tools/build-wheels

# All that stands between main and a release; the tag and the upload are left to a person. As root, about an hour.
release-check:
	tools/release-check

clean:
	rm -rf $(VENV) build dist demo demo-fleet
