#!/usr/bin/env bash
# pip installs the wheel into a new environment: the command and the module measure. numpy, which
# the wheel declares, lies in a folder.
# Needs: python3-venv
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

prepare() {
  python3 -m venv "$WORK/fetch"
  "$WORK/fetch/bin/pip" -q download --dest "$WORK/wheels" 'numpy>=1.24'
}

install() {
  python3 -m venv "$HOME/venv"
  "$HOME/venv/bin/pip" -q install --no-index --find-links "$WORK/wheels" \
    "$(file_of 'hairspring-*-abi3-manylinux*.whl')"
  measures "$HOME/venv/bin/hairspring"
}

module() {
  "$HOME/venv/bin/python" -m hairspring time 'sum(x)' -s 'x = list(range(100))'
}

try() {
  no_network
  timed install
  names_its_commit "$HOME/venv/bin/hairspring"
  measures env -u HOME "$HOME/venv/bin/hairspring"
  module
  # An upgrade to the same version, then removal: nothing of it is left but the environment.
  "$HOME/venv/bin/pip" -q install --no-index --find-links "$WORK/wheels" --force-reinstall \
    --no-deps "$(file_of 'hairspring-*.whl')"
  measures "$HOME/venv/bin/hairspring"
  "$HOME/venv/bin/pip" -q uninstall -y hairspring
  [ -z "$(find "$HOME/venv" -iname '*hairspring*')" ] ||
    fail "uninstalling left: $(find "$HOME/venv" -iname '*hairspring*')"
  rm -rf "$HOME/venv"
}

"$1"
