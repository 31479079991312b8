# Each target creates .venv by itself. Python 3.11 or later: make test PYTHON=python3.12
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed
CODE := src tests benchmarks examples docs
# The last digit of a product, and with it a bit, differs between kernels of OpenBLAS: take one that most machines have.
KERNEL := $(shell grep -qs avx2 /proc/cpuinfo && echo OPENBLAS_CORETYPE=Haswell)
# pytest rewrites each assert; an empty PYTHONDONTWRITEBYTECODE keeps what it has made of them for the next run.
PYTEST := $(KERNEL) OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(RUN) -m pytest -q -n auto --dist worksteal

.PHONY: setup demo check test coverage lint format docs bench-smoke clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "structhash needs Python 3.11 or later; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: setup
	$(RUN) -m structhash demo

# Everything but the slow tests, in less than a minute.
check: lint
	$(PYTEST) -m 'not slow'

test: setup
	$(PYTEST)

# All tests, and which lines they do not run; takes a third longer than `make test`.
coverage: setup
	$(PYTEST) --cov=structhash --cov-report=term:skip-covered

lint: setup
	$(RUN) -m ruff check $(CODE)
	$(RUN) -m ruff format --check $(CODE)
	$(RUN) -m mypy

format: setup
	$(RUN) -m ruff check --fix $(CODE)
	$(RUN) -m ruff format $(CODE)

# The site, in the folder site: warnings are errors, links between pages are checked.
docs: setup
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	OPENBLAS_NUM_THREADS=1 $(RUN) -m sphinx -q -E -W --keep-going -b html docs site
	$(RUN) docs/_site/links.py site

bench-smoke: setup
	$(RUN) benchmarks/smoke.py

clean:
	rm -rf $(VENV) demo-output .coverage site docs/api docs/gallery docs/more
