#!/usr/bin/env bash
# pip builds the source archive with the network, as on a system that the wheel is not for; without
# one, the module and the command that it made measure.
# Needs: python3-venv rustc-web cargo-web ca-certificates
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

prepare() {
  python3 -m venv "$WORK/fetch"
  "$WORK/fetch/bin/pip" -q wheel --wheel-dir "$WORK/wheels" \
    "$(file_of 'hairspring-[0-9]*[0-9].tar.gz')"
}

install() {
  python3 -m venv "$HOME/venv"
  "$HOME/venv/bin/pip" -q install --no-index --find-links "$WORK/wheels" hairspring
  measures "$HOME/venv/bin/hairspring"
}

try() {
  no_network
  install
  "$HOME/venv/bin/python" -m hairspring time 'sum(x)' -s 'x = list(range(100))'
  rm -rf "$HOME/venv"
}

"$1"
