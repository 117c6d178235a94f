# The commands of development. `make` alone lists them.
# Another Python: make test PYTHON=python3.13

PYTHON ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)
# The whole benchmark takes more than an hour and writes the report: make bench BENCH=
BENCH ?= --quick

.DEFAULT_GOAL := help
.PHONY: help test lint landing full lowest pages docs bench

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## run the quick suite, about five minutes on two cores
	$(PYTHON) -m pytest -q

lint: ## check style, format and types
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) validation/plain.py --rows 3 --most 3 README.md docs CONTRIBUTING.md CHANGELOG.md
	$(PYTHON) validation/plain.py --rows 3 --most 4 cvxml

landing: ## run what every change must pass (.ci/run); it removes .venv and makes a new one
	bash .ci/run

full: ## run the full suite (.ci/full), which a release must pass
	bash .ci/full

lowest: ## run the quick suite with the lowest versions that pyproject.toml allows
	bash .ci/lowest

pages: ## write what pages, stubs and the paper have from the methods
	$(PYTHON) docs/_ext/stubs.py
	$(PYTHON) docs/_ext/statement.py
	$(PYTHON) docs/_ext/tables.py
	$(PYTHON) docs/paper/write.py

docs: ## build the site in build/site
	$(PYTHON) -m sphinx -W --keep-going -n -b html docs build/site

bench: ## run the benchmarks with small sizes, and print the report
	$(PYTHON) -m validation.benchmarks $(BENCH)
