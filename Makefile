# `make run` starts the server and shows that it works; `make test` runs every test.
# Both make the environment first, from nothing but Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.DEFAULT_GOAL := help
.PHONY: help setup run serve test check unit fix docs bench eval faults shape clean

help: ## What can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY) ## Make the environment

$(READY): pyproject.toml constraints.txt tools/npm_tools.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable '.[postgres,split]'
	$(BIN)/mcp-memory model install
	touch $@

run: setup ## Start the server on its default database, after showing that it works
	$(BIN)/python tools/show.py
	$(BIN)/mcp-memory info

test: setup ## Every test, on both databases and with real clients
	$(BIN)/python tools/npm_tools.py
	$(BIN)/python -m pytest -n 2 --dist loadgroup

check: setup ## Format, lint, types, layers, documents and unit tests, in under a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/unit

fix: setup ## Repair what a program can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

eval: setup ## How well recall finds what answers a question; FOLDER=… for other data
	$(BIN)/python bench/eval.py $(FOLDER)

clean: ## Remove what was made
	rm -rf $(VENV) .tools dist build
