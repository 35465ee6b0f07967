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

.PHONY: help demo test test-fast lint types unit sanitize bench bench-memory peers paper docs clean

help:
	@echo "make demo         build, select features of the breast cancer table, print and write a report"
	@echo "make test         lint, types, imports and all tests"
	@echo "make test-fast    all tests except those marked slow: about two minutes on two cores"
	@echo "make sanitize     all tests with AddressSanitizer and UBSan"
	@echo "make paper        the published experiment: DATA=folder OUT=folder PAPER_JOBS=2 PAPER=--quick"
	@echo "make docs         the documentation as HTML pages, in build/docs"
	@echo "make bench        compare the speed of hocmim and other packages (QUICK=1: two minutes;"
	@echo "                  FRESH=1: measure everything again; DATA=folder: also the paper's data sets)"
	@echo "make bench-memory measure peak memory, up to 1 000 000 × 1 000"
	@echo "make peers        install the other packages that make bench compares"
	@echo "make clean        remove everything that was built"

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

test: lint types unit

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files '*.cpp' '*.hpp')
	PATH=$(BIN):$$PATH lint-imports

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# loadgroup: tests that share an expensive fixture (mark xdist_group) run in one process.
unit: $(VENV)/.installed-dev
	scripts/install-chromium
	$(BIN)/pytest -n $(JOBS) --dist loadgroup

test-fast: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(JOBS) -m "not slow"

$(VENV)/bin/python:
	scripts/check-system
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip

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

# The sanitizers need their own build of the kernels, in a separate environment.
SANITIZED := .venv-sanitize
sanitize:
	scripts/check-system
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install -q --upgrade pip
	$(SANITIZED)/bin/python -m pip install -q -e '.[dev]' \
	    -C cmake.define.HOCMIM_SANITIZE=ON -C build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	    $(SANITIZED)/bin/python -m pytest -q -n $(JOBS) --dist loadgroup

# The other packages are installed in a separate environment.
PEERS := .venv-peers
bench: $(VENV)/.installed-bench $(PEERS)/.installed
	$(BIN)/python benchmarks/run.py $(if $(QUICK),--quick) $(if $(FRESH),--fresh) \
	    $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/encoding.py --fit $(if $(QUICK),--sizes A B --budget 0.2) \
	    --out benchmarks/results/encoding.md
	$(BIN)/python benchmarks/growth.py $(if $(QUICK),MIM JMI CMIM HOCMIM-R --limit 1) \
	    --out benchmarks/results/growth.md

peers: $(PEERS)/.installed

bench-memory: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/memory.py

$(VENV)/.installed-bench: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[bench,report]'
	@touch $@ $(VENV)/.installed

# pymrmr needs Cython to build and does not declare it, so Cython is installed first.
$(PEERS)/.installed: benchmarks/peers.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q --upgrade pip
	$(PEERS)/bin/python -m pip install -q cython numpy 'setuptools<81' wheel
	$(PEERS)/bin/python -m pip install -q --no-build-isolation -r benchmarks/peers.txt
	@touch $@

clean:
	rm -rf $(VENV) $(SANITIZED) $(PEERS) build docs/api/generated docs/gallery .mypy_cache .ruff_cache .pytest_cache
