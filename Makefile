# Two commands do everything on a machine with python3 and make:  make reproduce, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: reproduce matrix rates test lint loops price revenue traffic program oppertune examples \
	flags samplers accelerator mutants known-mutants beginning absurd worth \
	serve-demo attack outside bench kills torture power-loss load page paper docs dist clean
.DELETE_ON_ERROR:

reproduce: $(READY)
	$(BIN)/dikin reproduce

# Tests start hundreds of processes: each would compile the package anew if bytecode were not kept,
# and threads of a matrix product would wait for each other on cores that are all in use. Tests that
# wait for a process leave a core to a third worker and to `make lint`.
test: $(READY)
	@$(MAKE) --no-print-directory lint & lint=$$!; \
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist worksteal; \
	tests=$$?; wait $$lint || { echo "make lint failed: it says above why"; exit 1; }; exit $$tests

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell

loops: $(READY)
	$(BIN)/python examples/live_loops.py

price: $(READY)
	$(BIN)/python examples/price.py

# The figure of the README, one minute.
revenue: $(READY)
	$(BIN)/python docs/build/revenue.py

traffic: $(READY)
	$(BIN)/python examples/traffic.py

program: $(READY)
	$(BIN)/python examples/program.py

serve-demo: $(READY)
	$(BIN)/python examples/serve_demo.py

oppertune: $(READY)
	$(BIN)/python examples/oppertune.py

# A web shop whose OpenFeature flags are tuned under load, half a minute.
flags: $(READY)
	$(BIN)/python examples/openfeature_service.py

# PAGE=1 writes docs/adapters.md.
ADAPTERS_OUT := $(if $(PAGE),--out docs/adapters --page docs/adapters.md)

# Samplers of Optuna in a live loop and offline, two minutes.
samplers: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/optuna_loop.py $(ADAPTERS_OUT)

# In Xopt, beside its own generator for machines that drift, some minutes. Installs Xopt with PyTorch.
accelerator: $(VENV)/.xopt
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/adapters/test_accelerator.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/accelerator.py $(if $(PAGE),--games 4) $(ADAPTERS_OUT)

# The page docs/examples.md: about 20 minutes.
TO_PAGE := --out docs/examples --page docs/examples.md
examples: $(READY)
	$(BIN)/python examples/price.py --rounds 500 5000 50000 --games 8 $(TO_PAGE)
	$(BIN)/python examples/traffic.py --games 6 $(TO_PAGE)
	$(BIN)/python examples/program.py --games 8 $(TO_PAGE)
	$(BIN)/python examples/oppertune.py --games 16 $(TO_PAGE)

# The first rounds beside pycma, about four minutes. PAGE=1 writes docs/beginning.md.
BEGINNING_OUT := $(if $(PAGE),--out docs/beginning --page docs/beginning.md)
beginning: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/beginning.py $(BEGINNING_OUT)

# Absurd values, more and more of them, about ten minutes. PAGE=1 writes docs/beginning.md.
absurd: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/absurd.py $(BEGINNING_OUT)

# The promises of dikin.worth in simulated loops, about two minutes. PAGE=1 writes docs/worth.md.
WORTH_OUT := $(if $(PAGE),--out docs/worth --page docs/worth.md)
worth: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/uplift_coverage.py $(WORTH_OUT)


# Every certificate in 1,485 kinds of games that come near it, four minutes. PAGE=1 writes
# docs/attack.md.
attack: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/attack.py \
		$(if $(PAGE),--out docs/attack --page docs/attack.md)

outside: $(VENV)/.outside
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/outside/command.py $(PART) \
		$(if $(GAMES),--games $(GAMES)) $(if $(MOST),--most $(MOST)) $(if $(AGAIN),--again) \
		--page docs/outside.md

# Places of the source that are made wrong on purpose: most of an hour the first time, when it is recorded
# which tests see which line. WITHIN=20 stops after so many minutes, and the same command goes on;
# AGAIN=1 plays survivors once more; PAGE=1 writes docs/mutants.md.
MUTANTS = $(if $(WITHIN),--minutes $(WITHIN)) $(if $(AGAIN),--again) $(if $(PAGE),--page)
mutants: $(READY)
	nice $(BIN)/python benchmarks/mutants.py $(MUTANTS)

known-mutants: $(READY)
	nice $(BIN)/python benchmarks/mutants.py --known $(MUTANTS)

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# Every learner in every scenario, and the rate of every learner: hours, and half an hour. Then `make page`.
matrix: $(READY)
	$(BIN)/python -m evidence.compare --external --rounds 10000 --seeds 32 --slow-seeds 6 \
		--most-seeds 12 --out docs/compare

rates: $(READY)
	$(BIN)/python -m evidence.rates --full --out docs/rates

# Kills and as many interrupts over all ways to play a study, about ten minutes. PAGE=1 writes the
# table into docs/durability.md.
KILLS ?= 2000
KILLS_OUT := --out $(if $(PAGE),docs/kills.csv --page docs/durability.md,kills.csv)
kills: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/studies/torture.py --kills $(KILLS) $(KILLS_OUT)

# Everything that studies were broken with, about twenty minutes. PAGE=1 writes it into docs/durability.md.
TORTURE_OUT := $(if $(PAGE),--out docs/torture.csv --page docs/durability.md)
torture: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/studies/torture.py $(TORTURE_OUT)

# A thousand rounds on a disk that forgets what was not synced, cut at every sync; four minutes.
# PAGE=1 writes the table into docs/durability.md.
power-loss: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/studies/power_loss.py $(if $(PAGE),--page docs/durability.md)

# The service under 64 clients, about five minutes. PAGE=1 writes docs/service.md.
LOAD_OUT := $(if $(PAGE),--out docs/service_load.csv --page docs/service.md)
load: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/service/load.py $(LOAD_OUT)

page: $(READY)
	$(BIN)/python docs/build

# The paper, as paper.pdf: needs a TeX with latexmk (Debian: texlive-latex-extra, latexmk, lmodern).
paper: $(READY)
	$(BIN)/python docs/build/paper_numbers.py
	@command -v latexmk >/dev/null || { echo "make paper: latexmk is missing; install a TeX"; exit 1; }
	cd docs/paper && latexmk -pdf -interaction=nonstopmode -halt-on-error -outdir=../auto/paper dikin.tex
	cp docs/auto/paper/dikin.pdf paper.pdf

# The site, in site/, begun anew: a warning is an error.
docs: $(VENV)/.docs
	rm -rf site docs/auto
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --jobs auto \
		--doctree-dir docs/auto/doctrees docs site
	$(BIN)/python docs/_ext/check_site.py site
	SITE=site $(BIN)/python -m pytest tests/documentation/test_browser.py

# The archives of a release, in dist/: checked, installed and tried, about two minutes.
dist: $(VENV)/.release
	$(BIN)/python tests/release/dist.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

$(VENV)/.xopt: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'xopt>=3.2'
	touch $@

$(VENV)/.outside: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'coco-experiment>=2.8' 'vowpalwabbit>=9.11'
	touch $@

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

$(VENV)/.release: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	touch $@

clean:
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis
