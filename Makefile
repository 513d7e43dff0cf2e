# Targets create .venv themselves, and again when pyproject.toml or constraints.txt change.
export PIP_DISABLE_PIP_VERSION_CHECK = 1
WORKERS ?= 2
BIN := .venv/bin
READY := .venv/.ready
SITE_READY := .venv/.site_ready
TEST_MINUTES := 7
COMPILES := the first run compiles rules and search: half a minute

.DEFAULT_GOAL := help
.PHONY: help demo play test thorough libraries lint docs bench measure results train clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## compare the trained agents with planner and random on the same games, and write a page of one game
	@echo "demo: trained agents (ppo), planner and random play the same 300 games at level 4222, a hard one ($(COMPILES))"
	@mkdir -p demo
	@$(BIN)/tetrarchia eval --agents ppo --against planner --against random --level 4222 --games 300 --out demo/4222
	@echo "demo: a game that the trained agents win"
	@$(BIN)/tetrarchia watch --agents ppo --level 4211 --seed 2 --save demo/ppo.json | tail -n 3
	@$(BIN)/tetrarchia replay demo/ppo.json --html demo/ppo.html
	@echo "demo: finished; open demo/ppo.html in a browser, or try:"
	@echo "  source .venv/bin/activate"
	@echo "  tetrarchia watch --agents ppo --level 4211     # watch the trained agents in the terminal"
	@echo "  tetrarchia serve                               # play in the browser with AI teammates"

play: $(READY) ## play in the browser with AI teammates
	@if [ -t 0 ]; then set -m; fi; $(BIN)/tetrarchia serve || [ $$? = 130 ] # set -m: Ctrl-C ends the server (130), not make

test thorough: export OMP_NUM_THREADS = 1 # torch threads of several processes slow each other down
test: $(READY) ## run the tests, the fast ones first
	@echo "test: about $(TEST_MINUTES) minutes on two cores"
	@echo "test: play one game, so that the workers find the compiled code ($(COMPILES))"
	@$(BIN)/tetrarchia watch --agents random,greedy,planner,ppo:candidates=2 --seed 1 > /dev/null
	@echo "test: fast tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow and not thorough"
	@echo "test: slow tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "slow and not thorough"

thorough: $(READY) ## run the long tests: kills and full disks at random moments, distributed training, randomly damaged files
	@echo "thorough: about twelve minutes on two cores"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m thorough

libraries: ## test with third-party libraries, each group in its own environment, and with the lowest versions allowed
	@bash .ci/libraries

lint: $(READY) ## check style, types and the direction of imports
	@echo "lint: ruff, mypy, import-linter"
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(SITE_READY) ## build the documentation into build/docs; a broken link or reference is an error
	@echo "docs: about a minute"
	@$(BIN)/sphinx-build -W --keep-going -n -E -q -b html docs build/docs
	@echo "docs: open build/docs/index.html"

bench: $(READY) ## measure the speed of the engine, each environment API and training, and start-up and compile times
	@echo "bench: about ten minutes; needs an otherwise idle machine"
	@mkdir -p benchmarks
	@$(BIN)/tetrarchia bench --peers --web --out benchmarks/latest.json

measure: $(READY) ## play all games that results/ lacks; takes hours
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash results/play.sh

results: $(READY) ## fill all generated tables, plots and checkpoint cards from kept files
	@echo "results: from results/ and checkpoints/, without playing games"
	@$(BIN)/python docs/make_results.py

train: $(READY) ## train an agent in runs/ppo: behavior cloning of the planner, then PPO; takes hours
	@echo "train: in runs/ppo; Ctrl-C saves, tetrarchia train --resume --name ppo continues"
	@$(BIN)/tetrarchia train --preset ppo --name ppo

clean: ## remove .venv, caches and built packages
	@rm -rf .venv .venv-libraries build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@python=$$(for name in python3 python3.13 python3.12 python3.11; do \
		$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$name && break; done); \
	if [ -z "$$python" ]; then echo "set-up: Python 3.11 or newer is required" >&2; exit 2; fi; \
	echo "set-up: installing the packages into .venv (some minutes)"; \
	$$python -m venv .venv
	@$(BIN)/python -m pip install -q -c constraints.txt hatchling
	@$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e ".[dev,render,train,plots,web]"
	@touch $@

$(SITE_READY): $(READY)
	@echo "set-up: installing the documentation tools (half a minute)"
	@$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e ".[docs]"
	@touch $@
