# Every target sets up what it needs (see requirements/setup.sh) and is quick the second time.
# PYTHON=… names the interpreter; LEVEL=all makes `make setup` install every extra;
# ARGS=… goes to pytest, as in `make test ARGS=tests/base`.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
unexport PYTHONPATH PYTHONHOME

LEVEL ?= test
RUN := .venv/bin/python
PYTEST := $(RUN) -m pytest -q -n auto --maxprocesses 8

.PHONY: help setup demo test check bench prove lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv with everything that tests and checks need
	@requirements/setup.sh $(LEVEL)

demo: ## show what Consentry does, in this terminal
	@requirements/setup.sh demo
	@PATH="$(CURDIR)/.venv/bin:$$PATH" bash examples/demo.sh

test: ## run the tests, proofs at their small size
	@requirements/setup.sh test
	@CONSENTRY_PROOF=small $(PYTEST) -m "not prove" $(ARGS)

check: ## style, types, import contracts, and the checks of checks/
	@requirements/setup.sh check
	@$(RUN) -m checks.steps

bench: ## measure, against a plain yardstick in the same run
	@requirements/setup.sh run
	@$(RUN) -m bench

prove: ## run the tests, proofs at their full size
	@requirements/setup.sh test
	@CONSENTRY_PROOF=full $(PYTEST) --timeout 900 $(ARGS)

lock: ## make the hashed locks from pyproject.toml (UPGRADE=1: newest versions)
	@requirements/lock.sh

clean: ## remove the environment, caches and everything built
	@rm -rf .venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist build
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
