# README shows `make demo` and `make test`; `make help` lists all targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BUILD_FILES := pyproject.toml CMakeLists.txt $(wildcard src/native/*/*)
JOBS ?= auto

DATA ?= $(HOCMIM_DATA)
OUT ?= results/paper
PAPER_JOBS ?= 2
PAPER ?=

.PHONY: help pin-tools trust fuzz audit sanitize-threads demo test test-fast lint types unit sanitize bench bench-speed bench-memory peers paper docs clean

help:
	@echo "make demo         build, select features of the breast cancer table, print and write a report"
	@echo "make test         lint, types, imports and all tests"
	@echo "make test-fast    all tests except those marked slow: about two minutes on two cores"
	@echo "make trust        kills, damaged files, long runs, large tables, fuzzing: within an hour"
	@echo "make fuzz         feed the kernels generated inputs (FUZZ_SECONDS=60, or FUZZ_RUNS=1000000)"
	@echo "make sanitize     all tests with AddressSanitizer, LeakSanitizer and UBSan"
	@echo "make sanitize-threads  the tests that use several threads, with ThreadSanitizer"
	@echo "make audit        list known vulnerabilities of the installed packages"
	@echo "make paper        the published experiment: DATA=folder OUT=folder PAPER_JOBS=2 PAPER=--quick"
	@echo "make docs         the documentation as HTML pages, in build/docs"
	@echo "make bench        compare the speed of hocmim and other packages (QUICK=1: two minutes;"
	@echo "                  FRESH=1: measure everything again; DATA=folder: also the paper's data sets)"
	@echo "make bench-speed  encoding, fit, growth, cliffs, interrupts and pages (QUICK=1: shorter)"
	@echo "make bench-memory measure peak memory, up to 1 000 000 × 1 000"
	@echo "make peers        install the other packages that make bench compares"
	@echo "make portability  compile the kernels for other compilers, processors and systems, run their native"
	@echo "                  tests under emulation, and the fast tests under every Python from 3.11 on"
	@echo "                  (DEBIAN=forky: also under that of this release; FREE_THREADED=3.13: also without a GIL)"
	@echo "make wheel        source distribution and wheel in dist/, tested without compiler (PYTHON=python3.12)"
	@echo "make floors       the fast tests with the lowest declared versions of all dependencies"
	@echo "make pin-tools    renew packaging/tools: versions and hashes of the programs that CI uses"
	@echo "make clean        remove everything that was built"

demo: $(VENV)/.installed
	@mkdir -p build
	$(BIN)/hocmim demo -o build/demo-report.html --force

test: lint types unit

# The programs that check the sources are the same everywhere: packaging/tools/lint.txt.
LINT := .venv-lint
lint: $(LINT)/.installed
	$(LINT)/bin/ruff check .
	$(LINT)/bin/ruff format --check .
	$(LINT)/bin/clang-format --dry-run --Werror $$(git ls-files '*.cpp' '*.hpp')
	PYTHONPATH=src $(LINT)/bin/lint-imports

types: $(LINT)/.installed $(VENV)/.installed-dev
	$(LINT)/bin/mypy --python-executable $(BIN)/python

$(LINT)/.installed: packaging/tools/lint.txt
	scripts/check-system
	test -x $(LINT)/bin/python || $(PYTHON) -m venv $(LINT)
	$(LINT)/bin/python -m pip install -q --require-hashes -r packaging/tools/lint.txt
	@touch $@

# tests/conftest.py says which files one process runs, since they share an expensive fixture.
unit: $(VENV)/.installed-dev
	scripts/install-chromium
	$(BIN)/pytest -n $(JOBS)

test-fast: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(JOBS) -m "not slow"

# Every part prints its figures; docs/reliability.md has those of a whole run.
trust: $(VENV)/.installed-dev
	$(BIN)/python tests/trust/run.py

fuzz:
	scripts/fuzz

# Asks a service on the network; see docs/reliability.md.
audit: $(VENV)/.installed-dev
	test -x .venv-audit/bin/pip-audit || { $(PYTHON) -m venv .venv-audit && \
	    .venv-audit/bin/python -m pip install -q --require-hashes -r packaging/tools/audit.txt; }
	mkdir -p build && $(BIN)/python -m pip freeze --exclude-editable >build/installed.txt
	.venv-audit/bin/pip-audit --no-deps --disable-pip -r build/installed.txt

$(VENV)/bin/python:
	scripts/check-system
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --require-hashes -r packaging/tools/pip.txt

$(VENV)/.installed: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[cli]'
	@touch $@

$(VENV)/.installed-dev: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@ $(VENV)/.installed

# After an interruption, the same command continues the run.
paper: $(VENV)/.installed-dev
	@test -n "$(DATA)" || { echo "Which data? Run make paper DATA=folder, where folder holds the"; \
	    echo "paper's data sets (docs/paper.md says how to get them), or set HOCMIM_DATA."; exit 2; }
	$(BIN)/hocmim bench paper --data $(DATA) --out $(OUT) --jobs $(PAPER_JOBS) $(PAPER)

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs
	@echo "Open build/docs/index.html"

$(VENV)/.installed-docs: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[docs]'
	@touch $@ $(VENV)/.installed

# The sanitizers need their own builds of the kernels, in separate environments. Leaks of other
# packages are left out: tests/trust/sanitizers says which and why.
SANITIZED := .venv-sanitize
SUPPRESSIONS := $(CURDIR)/tests/trust/sanitizers
# The walk builds a package of its own, without sanitizers. The others measure or limit memory, of
# which AddressSanitizer needs much more: terabytes of address space, and what was freed is kept.
NOT_SANITIZED := --ignore=tests/test_walk.py --ignore=tests/trust/test_little_memory.py \
    --deselect=tests/coding/test_codes_store.py::test_a_table_of_several_times_the_memory_allowed \
    --deselect=tests/trust/test_trust.py::test_many_fits_in_one_process_leave_nothing
# All tests, or TESTS=tests/coding.
sanitize:
	scripts/check-system
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install -q --require-hashes -r packaging/tools/pip.txt
	$(SANITIZED)/bin/python -m pip install -q -e '.[dev]' \
	    -C cmake.define.HOCMIM_SANITIZE=ON -C build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	    $(SANITIZED)/bin/python -m pytest -q -n $(JOBS) $(NOT_SANITIZED) $(TESTS)
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=$(SUPPRESSIONS)/leaks.supp \
	PYTHONMALLOC=malloc $(SANITIZED)/bin/python tests/trust/bindings.py

# Only the kernels are watched: other packages are not built with ThreadSanitizer, which does not see
# how they keep their threads apart. It looks for races, not for deadlocks: jemalloc in pyarrow takes
# more locks at a fork than it can count.
THREADS := .venv-threads
THREADED_TESTS := tests/trust/test_together.py tests/test_threads.py tests/selectors/test_planes.py \
    tests/search tests/criteria tests/information
# polars, which these files use, ends in a segmentation fault when ThreadSanitizer is loaded.
NOT_THREADED := $(addprefix --ignore=,$(shell grep -l 'import.*polars' tests/search/*.py tests/criteria/*.py tests/information/*.py))
sanitize-threads:
	scripts/check-system
	test -x $(THREADS)/bin/python || $(PYTHON) -m venv $(THREADS)
	$(THREADS)/bin/python -m pip install -q --require-hashes -r packaging/tools/pip.txt
	$(THREADS)/bin/python -m pip install -q -e '.[dev]' \
	    -C cmake.define.HOCMIM_SANITIZE=thread -C build-dir=build/threads
	LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so)" \
	TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:detect_deadlocks=0 OPENBLAS_NUM_THREADS=1 \
	    $(THREADS)/bin/python -m pytest -q -m "not slow" $(NOT_THREADED) $(THREADED_TESTS)

# The native tests alone take half a minute: make native.
portability: $(VENV)/.installed-dev
	$(BIN)/python -m pip install -q --require-hashes -r packaging/tools/nanobind.txt
	scripts/portability

native: $(VENV)/.installed
	$(BIN)/python -m pip install -q --require-hashes -r packaging/tools/nanobind.txt
	PYTHONS= scripts/portability

wheel:
	PYTHON="$(PYTHON)" scripts/wheel

# The lowest versions of the package, of the tests and of the build, in a separate environment.
FLOORS := .venv-floors
floors:
	scripts/check-system
	test -x $(FLOORS)/bin/python || $(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/bin/python -m pip install -q --require-hashes -r packaging/tools/pip.txt
	mkdir -p build
	$(PYTHON) scripts/lowest-versions test >build/lowest.txt
	$(PYTHON) scripts/lowest-versions --build >build/lowest-build.txt
	$(FLOORS)/bin/python -m pip install -q --require-hashes -r packaging/tools/ninja.txt
	$(FLOORS)/bin/python -m pip install -q -r build/lowest.txt -r build/lowest-build.txt
	$(FLOORS)/bin/python -m pip install -q --no-deps --no-build-isolation -C build-dir=build/floors .
	$(FLOORS)/bin/python -m pytest -q -n $(JOBS) -m "not slow"

# New versions and hashes of the programs that CI uses, in packaging/tools.
pin-tools:
	PYTHON="$(PYTHON)" scripts/pin-tools

# The files of .github/workflows are valid.
workflows: $(VENV)/bin/python
	PYTHON=$(BIN)/python scripts/check-workflows

# The other packages are installed in a separate environment.
PEERS := .venv-peers
bench: $(VENV)/.installed-bench $(PEERS)/.installed
	mkdir -p $(RESULTS)
	$(BIN)/python benchmarks/run.py $(if $(QUICK),--quick) $(if $(FRESH),--fresh) \
	    $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/encoding.py --fit $(if $(QUICK),--sizes A B --budget 0.2) \
	    --out $(RESULTS)/encoding.md
	$(BIN)/python benchmarks/growth.py $(if $(QUICK),MIM JMI CMIM HOCMIM-R --limit 1) \
	    --out $(RESULTS)/growth.md

# Without other packages. Also renews tables of docs/performance.md, docs/development/performance.md
# and docs/development/report.md; with QUICK=1 only a part is measured and docs/ stay as they are.
RESULTS := $(if $(QUICK),.benchmarks/quick,benchmarks/results)
bench-speed: $(VENV)/.installed-bench
	mkdir -p $(RESULTS)
	$(BIN)/python benchmarks/encoding.py --fit --budget $(if $(QUICK),0.1 --sizes A B,0.2 --docs) \
	    --before benchmarks/results/encoding_before.json --out $(RESULTS)/encoding.md
	$(BIN)/python benchmarks/growth.py --limit 1 $(if $(QUICK),MIM JMI CMIM HOCMIM-R) \
	    --out $(RESULTS)/growth.md
	$(BIN)/python benchmarks/cliffs.py --repeats 1 $(if $(QUICK),--quick,--docs) \
	    --out $(RESULTS)/cliffs.md
	$(BIN)/python benchmarks/interrupts.py $(if $(QUICK),--quick,--delays 0.5) \
	    --out $(RESULTS)/interrupts.md
	$(BIN)/python benchmarks/pages.py --quick $(if $(QUICK),,--docs) --results $(RESULTS)

peers: $(PEERS)/.installed

bench-memory: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/memory.py

$(VENV)/.installed-bench: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[bench,report]'
	@touch $@ $(VENV)/.installed

# pymrmr needs Cython to build and does not declare it, so Cython is installed first.
$(PEERS)/.installed: benchmarks/peers.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q --require-hashes -r packaging/tools/pip.txt
	$(PEERS)/bin/python -m pip install -q cython numpy 'setuptools<81' wheel
	$(PEERS)/bin/python -m pip install -q --no-build-isolation -r benchmarks/peers.txt
	@touch $@

clean:
	rm -rf $(VENV) $(LINT) $(SANITIZED) $(PEERS) $(FLOORS) $(THREADS) .venv-audit .venv-python-* .venv-wheel-* dist build docs/api/generated docs/gallery .mypy_cache .ruff_cache .pytest_cache
