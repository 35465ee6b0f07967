# README shows `make demo` and `make test`; `make help` lists all targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BUILD_FILES := pyproject.toml CMakeLists.txt $(wildcard src/native/*/*)
JOBS ?= auto
DATA ?= $(HOCMIM_DATA)

.PHONY: help demo test test-fast lint types docs wheel sanitize sanitize-threads fuzz native floors trust bench paper clean

help:
	@echo "make demo       build, select features of the breast cancer table, print and write a report"
	@echo "make test       lint, types and all tests"
	@echo "make test-fast  all tests except those marked slow: about two minutes on two cores"
	@echo "make lint       ruff, clang-format and the import rules; make types: mypy"
	@echo "make docs       the documentation as HTML pages, in build/docs"
	@echo "make wheel      source distribution and wheel in dist/, tested without compiler (PYTHON=python3.12)"
	@echo "make bench      measure speed beside other packages (QUICK=1: small tables; SCRIPTS=\"memory pages\": other scripts)"
	@echo "make paper      the published experiment: DATA=folder OUT=folder PAPER_JOBS=2 PAPER=--quick"
	@echo "make trust      kills, damaged files, long runs, large tables, fuzzing: within twenty minutes"
	@echo "make fuzz       feed the kernels generated inputs (FUZZ_SECONDS=60, or FUZZ_RUNS=1000000)"
	@echo "make sanitize   all tests with AddressSanitizer, LeakSanitizer and UBSan (TESTS=tests/coding)"
	@echo "make sanitize-threads  the tests that use several threads, with ThreadSanitizer"
	@echo "make native     the kernels with other compilers and on other processors, under emulation"
	@echo "make floors     the fast tests with the lowest declared versions of all dependencies"
	@echo "make clean      remove everything that was built"

demo: $(VENV)/.installed
	@mkdir -p build
	$(BIN)/hocmim demo -o build/demo-report.html --force

# tests/conftest.py says which files one process runs, since they share an expensive fixture.
test: lint types $(VENV)/.installed-dev
	scripts/install-chromium
	$(BIN)/pytest -n $(JOBS)

test-fast: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(JOBS) -m "not slow"

# The programs that check the sources are the same everywhere: packaging/tools/lint.txt.
LINT := .venv-lint
lint: $(LINT)/.installed
	$(LINT)/bin/ruff check .
	$(LINT)/bin/ruff format --check .
	$(LINT)/bin/clang-format --dry-run --Werror $$(git ls-files '*.cpp' '*.hpp')
	PYTHONPATH=src $(LINT)/bin/lint-imports

types: $(LINT)/.installed $(VENV)/.installed-dev
	$(LINT)/bin/mypy --python-executable $(BIN)/python

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs
	@echo "Open build/docs/index.html"

wheel:
	PYTHON="$(PYTHON)" scripts/wheel

# After an interruption, the same command continues the run.
OUT ?= results/paper
PAPER_JOBS ?= 2
PAPER ?=
paper: $(VENV)/.installed-bench
	@test -n "$(DATA)" || { echo "Which data? Run make paper DATA=folder, where folder holds the"; \
	    echo "paper's data sets (docs/development/paper.md says how to get them), or set HOCMIM_DATA."; exit 2; }
	$(BIN)/hocmim bench paper --data $(DATA) --out $(OUT) --jobs $(PAPER_JOBS) $(PAPER)

# Each script of benchmarks/ measures a claim of the docs: make bench SCRIPTS="memory pages". WRITE=1
# renews benchmarks/results and the tables in docs/.
SCRIPTS ?= packages encoding growth
bench: $(VENV)/.installed-bench .venv-peers/.installed
	for script in $(SCRIPTS); do \
	    $(BIN)/python benchmarks/$$script.py $(if $(QUICK),--quick) $(if $(WRITE),--write) || exit 1; done

# Every part prints its figures; docs/trust.md has those of a whole run.
trust: $(VENV)/.installed-dev
	$(BIN)/python tests/trust/run.py

fuzz:
	scripts/fuzz

native:
	scripts/native

# --- environments ---------------------------------------------------------------------------------

$(LINT)/.installed: packaging/tools/lint.txt
	scripts/check-system
	test -x $(LINT)/bin/python || $(PYTHON) -m venv $(LINT)
	$(LINT)/bin/python -m pip install -q --require-hashes -r packaging/tools/lint.txt
	@touch $@

$(VENV)/bin/python:
	scripts/check-system
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --require-hashes -r packaging/tools/pip.txt

$(VENV)/.installed: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[cli]'
	@touch $@

# .installed-dev, .installed-docs, .installed-bench: with the extra of this name
$(VENV)/.installed-%: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[$*]'
	@touch $@ $(VENV)/.installed

# --- builds of their own --------------------------------------------------------------------------

# The sanitizers need their own builds of the kernels, in separate environments. Leaks of other
# packages are left out: tests/trust/sanitizers says which and why.
SANITIZED := .venv-sanitize
SUPPRESSIONS := $(CURDIR)/tests/trust/sanitizers
# These measure or limit memory, of which AddressSanitizer needs much more: terabytes of address
# space, and what was freed is kept.
NOT_SANITIZED := --ignore=tests/trust/test_little_memory.py \
    --deselect=tests/coding/test_codes_store.py::test_a_table_of_several_times_the_memory_allowed \
    --deselect=tests/trust/test_trust.py::test_many_fits_in_one_process_leave_nothing
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
THREADED_TESTS := tests/trust/test_at_once.py tests/test_threads.py tests/selectors/test_planes.py \
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

# The lowest versions of everything that pyproject.toml names.
FLOORS := .venv-floors
floors:
	test -x $(FLOORS)/bin/python || $(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/bin/python -m pip install -q --require-hashes -r packaging/tools/uv.txt
	$(FLOORS)/bin/uv pip install -q --python $(FLOORS)/bin/python --resolution lowest-direct \
	    -r pyproject.toml --extra test
	$(FLOORS)/bin/uv pip install -q --python $(FLOORS)/bin/python --no-deps .
	$(FLOORS)/bin/python -m pytest -q -n $(JOBS) -m "not slow"

# Other packages, for make bench. pymrmr needs Cython to build and does not declare it.
PEERS := .venv-peers
$(PEERS)/.installed: benchmarks/peers.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q --require-hashes -r packaging/tools/pip.txt
	$(PEERS)/bin/python -m pip install -q cython numpy 'setuptools<81' wheel
	$(PEERS)/bin/python -m pip install -q --no-build-isolation -r benchmarks/peers.txt
	@touch $@

clean:
	rm -rf $(VENV) $(LINT) $(SANITIZED) $(PEERS) $(FLOORS) $(THREADS) .venv-wheel-* dist build \
	    docs/api/generated docs/gallery .mypy_cache .ruff_cache .pytest_cache
