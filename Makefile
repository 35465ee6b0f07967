# README's two commands are `make demo` and `make test`; `make help` lists the others.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
BUILD_FILES := pyproject.toml CMakeLists.txt $(wildcard src/native/*/*)
JOBS ?= auto

DATA ?= ../shared/data
OUT ?= results/paper
PAPER_JOBS ?= 2
PAPER ?=

.PHONY: help demo test lint types unit sanitize bench bench-memory peers paper docs clean

help:
	@echo "make demo      build, select features of the breast cancer table, print and write a report"
	@echo "make test      lint, types, imports and all tests"
	@echo "make sanitize  the test suite once under AddressSanitizer and UBSan"
	@echo "make paper     the published experiment: DATA=folder OUT=folder PAPER_JOBS=2 PAPER=--quick"
	@echo "make docs      the guide, the gallery and the API reference as pages, into build/docs"
	@echo "make bench     hocmim and its peers side by side (QUICK=1: two minutes; FRESH=1: start over)"
	@echo "make bench-memory  peak memory, 1 000 000 × 1 000 included"
	@echo "make peers     the environment of the peers, for make bench"
	@echo "make clean     remove everything that was built"

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

unit: $(VENV)/.installed-dev
	scripts/install-chromium
	$(BIN)/pytest -n $(JOBS)

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

# Stopped at any time, it goes on where it was when called again.
paper: $(VENV)/.installed-dev
	$(BIN)/hocmim bench paper --data $(DATA) --out $(OUT) --jobs $(PAPER_JOBS) $(PAPER)

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs
	@echo "The pages are in build/docs: open build/docs/index.html"

$(VENV)/.installed-docs: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[docs]'
	@touch $@ $(VENV)/.installed

# The kernels built with the sanitizers, in an environment of their own.
SANITIZED := .venv-sanitize
sanitize:
	scripts/check-system
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python -m pip install -q --upgrade pip
	$(SANITIZED)/bin/python -m pip install -q -e '.[dev]' \
	    -C cmake.define.HOCMIM_SANITIZE=ON -C build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	    $(SANITIZED)/bin/python -m pytest -q -n $(JOBS)

# hocmim and its peers side by side, the peers in an environment of their own.
PEERS := .venv-peers
bench: $(VENV)/.installed-bench $(PEERS)/.installed
	$(BIN)/python benchmarks/run.py $(if $(QUICK),--quick) $(if $(FRESH),--fresh)

peers: $(PEERS)/.installed

bench-memory: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/memory.py

$(VENV)/.installed-bench: $(BUILD_FILES) | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[bench,report]'
	@touch $@ $(VENV)/.installed

# pymrmr does not say that its build needs Cython: it finds it in the environment.
$(PEERS)/.installed: benchmarks/peers.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -q --upgrade pip
	$(PEERS)/bin/python -m pip install -q cython numpy 'setuptools<81' wheel
	$(PEERS)/bin/python -m pip install -q --no-build-isolation -r benchmarks/peers.txt
	@touch $@

clean:
	rm -rf $(VENV) $(SANITIZED) $(PEERS) build docs/api/generated docs/gallery .mypy_cache .ruff_cache .pytest_cache
