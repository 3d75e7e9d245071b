# Two commands are enough: `make book` and `make test`. Both make the environment first.
.DEFAULT_GOAL := help
.PHONY: help env book serve zip pdf slides lab generate test test-all reseed reproduce bench lint format clean distclean

VENV := $(CURDIR)/.venv
PY := $(VENV)/bin/python
PORT ?= 8000

# Programs that call others by name (nbgrader, JupyterLab) find them although the environment is not activated.
export PATH := $(VENV)/bin:$(PATH)
unexport PYTHONPATH PYTHONHOME

# Most of a page's time is compiling, so compiled functions are kept (tools/pages.py does the same for the book and the tests).
lab: export JAX_COMPILATION_CACHE_DIR ?= $(CURDIR)/.cache/jax
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS ?= 0
export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES ?= -1
export JAX_PLATFORMS ?= cpu

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

env:
	@tools/setup_env.sh

book: env  ## execute what changed, build the book, say where it lies
	@$(PY) tools/build_book.py

serve: book  ## show the book in a browser (PORT=8000)
	@echo "http://127.0.0.1:$(PORT)   (end with Ctrl-C)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory book/_build/html $(PORT)

zip: book  ## the book in one file, which opens from a folder without a server
	@$(PY) tools/pack.py

pdf: book  ## the book on paper: one PDF with contents, outline and links, printed by Chromium (some minutes)
	@$(PY) tools/pdf.py

slides: book  ## a deck of slides a chapter, in a folder that opens without a server or a network
	@$(PY) tools/slides.py

lab: env  ## open JupyterLab at START HERE: pages and exercises as notebooks
	@$(VENV)/bin/course open >/dev/null  # a student's own copies, in work/
	@$(VENV)/bin/jupyter lab --notebook-dir=. --LabApp.default_url=/lab/tree/START-HERE.ipynb $(LAB)

generate: env  ## write again what is generated from a source: errata pages, glossary, student exercises, START HERE
	@for tool in tools/errata.py tools/glossary.py tools/exercises.py tools/start.py; do if [ -f $$tool ]; then $(PY) $$tool || exit 1; fi; done

test: env  ## everything: lint, book, every cell of every page, every test
	@tools/test.sh

test-all: env  ## the same, with answers and pages at other seeds, and everything reproduced (every week, and before a release)
	@tools/test.sh --thorough

reseed: env  ## the asserts of every page at 5 shifts of its seeds (an hour and a half)
	@$(PY) tools/reseed.py

reproduce: env  ## every page and solved sheet a second time: the printed numbers must be the same (half an hour)
	@$(PY) tools/reproduce.py

bench: env  ## this package beside its peers, in turns, and the page *Measured* (20 minutes; BENCH=--small for a trial)
	@$(VENV)/bin/pip install --quiet --constraint constraints.txt --constraint benchmarks/constraints.txt -e '.[bench]'
	@$(PY) benchmarks/run.py $(BENCH)

lint: env  ## ruff and mypy
	@tools/test.sh lint

format: env  ## mend what ruff can mend
	@$(VENV)/bin/ruff check --fix . ; $(VENV)/bin/ruff format .

clean:  ## remove what builds and tests made, with the stored outputs of the pages
	@rm -rf book/_build book/conf.py book/exercises .cache .coverage .coverage.* htmlcov .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -path ./.venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean  ## the environment too
	@rm -rf .venv *.egg-info
