# Makes .venv and installs one of the pinned sets in it; sourced by ./demo and ./test.
# Does nothing when that was done before and the pins are the same.

install_pins() { # install_pins run|test
  local python=${PYTHON:-python3} pins="requirements/$1.txt" stamp=".venv/installed-$1"
  if ! "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "Python 3.11 or later with its venv module is needed (set PYTHON to it); found: $("$python" --version 2>&1)" >&2
    exit 3
  fi
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  if ! cat "$pins" pyproject.toml | cmp -s - "$stamp"; then
    echo "Installing what is needed into .venv (once) ..."
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$pins" 2> .venv/pip.log ||
      { cat .venv/pip.log >&2; exit 3; }
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . 2> .venv/pip.log ||
      { cat .venv/pip.log >&2; exit 3; }
    cat "$pins" pyproject.toml > "$stamp"
  fi
  PATH="$PWD/.venv/bin:$PATH"
}
