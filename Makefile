# Everything runs on a machine with python3 and make. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
QUIET := --quiet --disable-pip-version-check
RUN := OPENBLAS_NUM_THREADS=1 $(BIN)/python

.PHONY: help test lint reproduce page paper docs dist clean price traffic program oppertune examples revenue \
	flags serve-demo beginning rows absurd outside worth attack kills torture power-loss load bench \
	mutants known-mutants
.DELETE_ON_ERROR:

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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

# --- what tuning costs and gains. PAGE=1 writes the CSV files and the tables of the page -----------

price: $(READY) ## Tune a price and advertising
	$(BIN)/python examples/price.py

traffic: $(READY) ## Tune the shares of three web servers
	$(BIN)/python examples/traffic.py

program: $(READY) ## Tune six settings of zlib
	$(BIN)/python examples/program.py

oppertune: $(READY) ## Tune the problems of OPPerTune
	$(BIN)/python examples/oppertune.py

TO_PAGE := --out docs/examples --page docs/examples.md
examples: $(READY) ## Compare the four loops with other methods, and write docs/examples.md, 20 minutes
	$(BIN)/python examples/price.py --rounds 500 5000 50000 --games 8 $(TO_PAGE)
	$(BIN)/python examples/traffic.py --games 6 $(TO_PAGE)
	$(BIN)/python examples/program.py --games 8 $(TO_PAGE)
	$(BIN)/python examples/oppertune.py --games 16 $(TO_PAGE)

revenue: $(READY) ## Draw the figure of the README, one minute
	$(BIN)/python docs/build/revenue.py

flags: $(READY) ## Tune the OpenFeature flags of a small shop under load, half a minute
	$(BIN)/python examples/openfeature_service.py

serve-demo: $(READY) ## Serve three running studies, to look at the page
	$(BIN)/python examples/serve_demo.py

BEGINNING = $(if $(PAGE),--out docs/beginning --page docs/beginning.md)
beginning: $(READY) ## Measure the cost of the first rounds beside pycma, four minutes
	$(RUN) benchmarks/beginning.py $(BEGINNING)

ROWS := $(RUN) evidence/rows.py --rounds 4000 --games 16 --seed 101 --rivals rows,cma
rows: $(READY) ## Tune 62 kinds of games beside pycma, 45 minutes, and write docs/rows
	$(ROWS) --kinds still --out docs/rows/still.csv
	$(ROWS) --kinds moving --out docs/rows/moving.csv

absurd: $(READY) ## Measure the cost of absurd values, ten minutes
	$(RUN) benchmarks/absurd.py $(BEGINNING)

outside: $(VENV)/.outside ## Tune problems from outside (PART, GAMES, MOST, AGAIN), and write docs/outside.md
	$(RUN) benchmarks/outside/command.py $(PART) $(if $(GAMES),--games $(GAMES)) \
		$(if $(MOST),--most $(MOST)) $(if $(AGAIN),--again) --page docs/outside.md

worth: $(READY) ## Measure the interval of the gain and the guard in simulated loops, four minutes
	$(RUN) benchmarks/uplift_coverage.py $(if $(PAGE),--out docs/worth --page docs/worth.md)

attack: $(READY) ## Try to break every certificate in 1,485 kinds of games, four minutes
	$(RUN) benchmarks/attack.py $(if $(PAGE),--out docs/attack --page docs/attack.md)

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

bench: $(READY) ## Time every claim about speed
	$(BIN)/python benchmarks/run.py

# The first time most of an hour, because the lines that each test runs are recorded.
MUTANTS = $(if $(WITHIN),--minutes $(WITHIN)) $(if $(AGAIN),--again) $(if $(PAGE),--page)
mutants: $(READY) ## Change single lines and see which tests notice (WITHIN=minutes, AGAIN=1: survivors again)
	nice $(BIN)/python benchmarks/mutants.py $(MUTANTS)

known-mutants: $(READY) ## Try the faults that are listed in docs/mutants
	nice $(BIN)/python benchmarks/mutants.py --known $(MUTANTS)

# --- environments ----------------------------------------------------------------------------------

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(QUIET) --upgrade pip
	$(BIN)/python -m pip install $(QUIET) --editable '.[test]'
	touch $@

$(VENV)/.outside: $(READY)
	$(BIN)/python -m pip install $(QUIET) 'coco-experiment>=2.8' 'vowpalwabbit>=9.11'
	touch $@

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install $(QUIET) --editable '.[docs]'
	touch $@

$(VENV)/.release: $(READY)
	$(BIN)/python -m pip install $(QUIET) --editable '.[release]'
	touch $@
