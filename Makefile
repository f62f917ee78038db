# Two commands matter: `make site` builds the site into public/, `make test` does the same and runs all tests.
PYTHON ?= python3
UV ?= uv
BIN := .venv/bin
# Where the site will lie, for what needs a whole address: make site ADDRESS=https://example.org/lab/
ADDRESS ?=
PIP := $(BIN)/python -m pip --disable-pip-version-check
COMPILE := $(UV) pip compile --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --quiet pyproject.toml

.PHONY: site test check serve lock bench corpus clean

.venv/.site: lock/site.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) install --quiet --require-hashes --requirement lock/site.txt
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.venv/.dev: .venv/.site lock/dev.txt
	$(PIP) install --quiet --require-hashes --requirement lock/dev.txt
	touch $@

site: .venv/.site
	$(BIN)/reportgen build --strict $(if $(ADDRESS),--address '$(ADDRESS)')

test: site .venv/.dev
	bash tests/install-browser.sh
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

serve: .venv/.site
	$(BIN)/reportgen serve

# The lock files are universal (every platform, Python 3.11 to 3.13), carry hashes and name no address.
lock:
	$(COMPILE) --extra build --output-file lock/site.txt
	$(COMPILE) --extra build --extra compile --extra dev --constraint lock/site.txt --output-file lock/dev.txt

bench: .venv/.dev
	for program in benchmarks/*.py; do echo "== $$program"; $(BIN)/python $$program || exit 1; done

# A folder of other harnesses' files with the right result of each in expected.json: make corpus DIR=...
corpus: .venv/.dev
	$(BIN)/python -m tests.importing.corpus "$(DIR)"

clean:
	rm -rf public .cache .venv
