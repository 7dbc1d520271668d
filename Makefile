# Everything runs on a machine with python3 and make. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
QUIET := --quiet --disable-pip-version-check
RUN := OPENBLAS_NUM_THREADS=1 $(BIN)/python

.PHONY: help test lint reproduce page paper docs dist clean evidence worth attack paper-constants \
	revenue flags serve-demo kills torture power-loss load rolling bench mutants \
	known-mutants
.DELETE_ON_ERROR:

help: ## List all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Tests start hundreds of processes: each would compile the package anew if bytecode were not kept,
# and threads of a matrix product would wait for each other on cores that are all in use. Tests that
# wait for a process leave a core to a third worker and to `make lint`.
test: $(READY) ## Check style and types, and run all tests
	@$(MAKE) --no-print-directory lint & lint=$$!; \
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist worksteal; \
	tests=$$?; wait $$lint || { echo "make lint failed: it says above why"; exit 1; }; exit $$tests

lint: $(READY) ## Check style, types and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell

reproduce: $(READY) ## Measure both tables of the paper, minutes
	$(BIN)/dikin reproduce

page: $(READY) ## Write the tables and figures of the pages anew from their CSV files
	$(BIN)/python docs/build

paper: $(READY) ## Build paper.pdf (needs TeX: texlive-latex-extra, latexmk, lmodern)
	$(BIN)/python docs/build/paper_numbers.py
	@command -v latexmk >/dev/null || { echo "make paper: latexmk is missing; install a TeX"; exit 1; }
	cd docs/paper && latexmk -pdf -interaction=nonstopmode -halt-on-error -outdir=../auto/paper dikin.tex
	cp docs/auto/paper/dikin.pdf paper.pdf

docs: $(VENV)/.docs ## Build and check the site in site/
	rm -rf site docs/auto
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --jobs auto \
		--doctree-dir docs/auto/doctrees docs site
	$(BIN)/python docs/_ext/check_site.py site
	SITE=site $(BIN)/python -m pytest tests/documentation/test_browser.py

dist: $(VENV)/.release ## Build the archives of a release in dist/, install and try them
	$(BIN)/python tests/release/dist.py

clean: ## Remove the environment, the site and caches
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis

# --- measurements: they write CSV files, and `make page` the pages ---------------------------------

evidence: $(READY) $(if $(filter bbob cats serving,$(PART)),$(VENV)/.outside) ## Run the games of one PART (see docs/outside.md) and write them into docs/games
	$(RUN) -m evidence $(PART) $(if $(GAMES),--games $(GAMES)) $(if $(MOST),--most $(MOST)) \
		$(if $(AGAIN),--again)

worth: $(READY) ## Measure the interval of the gain and the guard in simulated loops, four minutes
	$(RUN) -m evidence.worth

attack: $(READY) ## Try to break every certificate in 1,485 kinds of games, four minutes
	$(RUN) -m evidence.attack

paper-constants: $(READY) ## Run the paper's tables with its own constants, hours
	$(RUN) -m evidence.paper_constants --out docs/evidence/paper

revenue: $(READY) ## Run and draw the figure of the README, two minutes
	$(BIN)/python docs/build/revenue.py

flags: $(READY) ## Tune the OpenFeature flags of a small shop, seconds
	$(BIN)/python examples/openfeature_service.py

serve-demo: $(READY) ## Serve three running studies, to look at the page
	$(BIN)/python examples/serve_demo.py

# --- durability and speed --------------------------------------------------------------------------

KILLS ?= 2000
kills: $(READY) ## Kill and interrupt clients of studies, ten minutes
	$(RUN) tests/studies/torture.py --kills $(KILLS) \
		--out $(if $(PAGE),docs/kills.csv --page docs/durability.md,kills.csv)

torture: $(READY) ## Try everything that studies were broken with, 20 minutes
	$(RUN) tests/studies/torture.py $(if $(PAGE),--out docs/torture.csv --page docs/durability.md)

power-loss: $(READY) ## Cut the power of a disk at every sync of a thousand rounds, four minutes
	$(RUN) tests/studies/power_loss.py $(if $(PAGE),--page docs/durability.md)

load: $(READY) ## Measure the service under 64 clients, five minutes
	$(RUN) tests/service/load.py $(if $(PAGE),--out docs/service_load.csv --page docs/service.md)

MINUTES ?= 10
CLIENTS ?= 64
rolling: $(READY) ## Rehearse an update of two services in turn, under load (MINUTES, CLIENTS, OTHER=src of a version)
	$(RUN) tests/service/rolling.py --minutes $(MINUTES) --clients $(CLIENTS) \
		$(if $(OTHER),--other $(OTHER))

bench: $(READY) ## Time every claim about speed, two minutes
	$(RUN) -m evidence.speed

mutants: $(READY) ## Change single lines of the source and see which tests notice (WITHIN=minutes)
	nice $(RUN) -m evidence.mutants $(if $(WITHIN),--minutes $(WITHIN))

known-mutants: $(READY) ## Try the faults that docs/mutants/known.csv lists (WITHIN=minutes)
	nice $(RUN) -m evidence.mutants --known $(if $(WITHIN),--minutes $(WITHIN))

# --- environments ----------------------------------------------------------------------------------

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(QUIET) --upgrade pip
	$(BIN)/python -m pip install $(QUIET) --editable '.[test]'
	touch $@

$(VENV)/.outside: $(READY)
	$(BIN)/python -m pip install $(QUIET) 'coco-experiment>=2.8' 'vowpalwabbit>=9.11' 'simpy>=4.1'
	touch $@

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install $(QUIET) --editable '.[docs]'
	touch $@

$(VENV)/.release: $(READY)
	$(BIN)/python -m pip install $(QUIET) --editable '.[release]'
	touch $@
