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
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$pins" 2> .venv/pip.log ||
      { cat .venv/pip.log >&2; exit 3; }
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . 2> .venv/pip.log ||
      { cat .venv/pip.log >&2; exit 3; }
    cat "$pins" pyproject.toml > "$stamp"
  fi
  PATH="$PWD/.venv/bin:$PATH"
}

install_client() { # what makes a client of the API's description, in an environment of its own: tests use that client
  local pins=requirements/client.txt stamp=.venv/client/installed
  if cmp -s "$pins" "$stamp"; then return; fi
  echo "Installing what makes clients of the API into .venv/client (once) ..."
  { .venv/bin/python -m venv .venv/client &&
    .venv/client/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$pins" &&
    cp "$pins" "$stamp"; } > .venv/client.log 2>&1 ||
    echo "It could not be installed (.venv/client.log says why): no generated client is tested." >&2
}

install_hooks() { # pre-commit and the published schemas of actions, in an environment of their own: tests run the hook by it
  local pins=requirements/hooks.txt place=.venv/hooks
  if cmp -s "$pins" "$place/installed"; then return; fi
  echo "Installing pre-commit into $place (once) ..."
  { .venv/bin/python -m venv "$place" &&
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$pins" &&
    cp "$pins" "$place/installed"; } > .venv/hooks.log 2>&1 ||
    echo "It could not be installed (.venv/hooks.log says why): the hook is not run by pre-commit." >&2
}

install_framework() { # install_framework langchain: a framework in an environment of its own, for the tests of its integration
  local name=$1 pins="requirements/frameworks/$1.txt" place=".venv/frameworks/$1"
  if cat "$pins" pyproject.toml | cmp -s - "$place/installed"; then return; fi
  echo "Installing $name into $place (once) ..."
  mkdir -p .venv/frameworks
  { .venv/bin/python -m venv "$place" &&
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$pins" &&
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . &&
    cat "$pins" pyproject.toml > "$place/installed"; } > ".venv/frameworks/$name.log" 2>&1 ||
    echo "It could not be installed (.venv/frameworks/$name.log says why): the integration of $name is not tested." >&2
}

install_witness() { # litewitness, from Debian's package torchwood: tests send checkpoints to it
  if command -v litewitness > /dev/null; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends torchwood openssh-client > .venv/apt-witness.log 2>&1 ||
      echo "litewitness could not be installed (.venv/apt-witness.log says why): no real witness is tested." >&2
  else
    echo "A real witness is tested where these are installed: torchwood openssh-client" >&2
  fi
}

install_token() { # SoftHSM from Debian: tests keep keys in its tokens
  if command -v softhsm2-util > /dev/null; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends softhsm2 > .venv/apt-token.log 2>&1 ||
      echo "SoftHSM could not be installed (.venv/apt-token.log says why): no key is tested in a token." >&2
  else
    echo "Keys are tested in a token where this is installed: softhsm2" >&2
  fi
}

install_validator() { # Java and JAXB from Debian, which the veraPDF engine needs: tests validate PDFs by it
  local jaxb=(libjaxb-java libjaxb-api-java libistack-commons-java libtxw2-java libactivation-java)
  if command -v javac > /dev/null && [ -e /usr/share/java/jaxb-runtime.jar ]; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing Java and JAXB (once) ..."
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends default-jdk-headless "${jaxb[@]}"; } > .venv/apt.log 2>&1 ||
      echo "They could not be installed (.venv/apt.log says why): PDFs are not validated." >&2
  else
    echo "PDFs are validated where these are installed: default-jdk-headless ${jaxb[*]}" >&2
  fi
}

install_browser() { # Chromium from Debian: tests open the viewer's pages in it
  if command -v chromium > /dev/null; then return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "Installing Chromium (once) ..."
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium fonts-dejavu-core; } > .venv/apt-browser.log 2>&1 ||
      echo "It could not be installed (.venv/apt-browser.log says why): no page is tested in a browser." >&2
  else
    echo "Pages are tested in a browser where this is installed: chromium" >&2
  fi
}
