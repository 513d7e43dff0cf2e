# Every target that needs it sets up .venv by itself, again when pyproject.toml or constraints.txt change.
export PIP_DISABLE_PIP_VERSION_CHECK = 1
WORKERS ?= 2
BIN := .venv/bin
READY := .venv/.ready
SITE_READY := .venv/.site_ready
COMPILES := a first run compiles rules and search first: half a minute

.DEFAULT_GOAL := help
.PHONY: help demo play test thorough libraries lint docs bench measure results train clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## measure the trained agents against planner and random on the same games, and make a page of one game
	@echo "demo: four trained Emperors (ppo), four planners, four random players: the same 200 games at level 4200 ($(COMPILES))"
	@mkdir -p demo
	@$(BIN)/tetrarchia eval --agents ppo --against planner --against random --level 4200 --games 200 --out demo/games
	@echo "demo: one game of the trained Emperors, one that they win"
	@$(BIN)/tetrarchia watch --agents ppo --level 4211 --seed 2 --save demo/game.json | tail -n 3
	@$(BIN)/tetrarchia replay demo/game.json --html demo/game.html

play: $(READY) ## play in the browser, with trained colleagues or with friends
	@$(BIN)/tetrarchia serve

test thorough: export OMP_NUM_THREADS = 1 # threads of torch in each of several processes would only wait for each other
test: $(READY) ## run the tests, the fast ones first
	@echo "test: one game, so that the workers find most of it compiled ($(COMPILES))"
	@$(BIN)/tetrarchia watch --agents random,greedy,planner,ppo:candidates=2 --seed 1 > /dev/null
	@echo "test: fast tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow and not thorough"
	@echo "test: slow tests"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m slow

thorough: $(READY) ## run the tests that take minutes: kills and full disks at any moment, launchers, files damaged at random
	@echo "thorough: kills, launchers, damaged files"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m thorough

libraries: ## run the examples of other libraries, each group of them in an environment of its own, and the lowest versions allowed
	@bash .ci/libraries

lint: $(READY) ## check style, types and the direction of imports
	@echo "lint: ruff, mypy, import-linter"
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: $(SITE_READY) ## build the site of docs/ into build/docs; a broken link or reference fails
	@echo "docs: building the site, about a minute"
	@$(BIN)/sphinx-build -W --keep-going -n -E -q -b html docs build/docs
	@echo "docs: open build/docs/index.html"

bench: $(READY) ## measure the rules, every API of the environment, training, start-up and compile times
	@echo "bench: some minutes; other work on the machine spoils the figures"
	@mkdir -p benchmarks
	@$(BIN)/tetrarchia bench --peers --out benchmarks/latest.json

measure: $(READY) ## play every game of results/ that is not there yet; long
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash results/play.sh

results: $(READY) ## fill the tables and plots of docs/results.md, training.md, analysis.md, README and the checkpoints' cards from kept files
	@echo "results: reading results/ and checkpoints/, plays nothing"
	@$(BIN)/python docs/make_results.py

train: $(READY) ## train a PPO agent into runs/ppo: behaviour cloning of the planner, then PPO; hours
	@echo "train: into runs/ppo; Ctrl-C saves, tetrarchia train --resume --name ppo goes on"
	@$(BIN)/tetrarchia train --preset ppo --name ppo

clean: ## remove .venv, caches and built packages
	@rm -rf .venv .venv-libraries build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@python=$$(for name in python3 python3.13 python3.12 python3.11; do \
		$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$name && break; done); \
	if [ -z "$$python" ]; then echo "set-up: no Python 3.11 or newer found, please install one." >&2; exit 2; fi; \
	echo "set-up: installing the packages into .venv (some minutes)"; \
	$$python -m venv .venv
	@$(BIN)/python -m pip install -q -c constraints.txt hatchling
	@$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e ".[dev,render,train,plots,web]"
	@touch $@

$(SITE_READY): $(READY)
	@echo "set-up: installing what the site is built with (half a minute)"
	@$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e ".[docs]"
	@touch $@
