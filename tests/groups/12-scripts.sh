#!/usr/bin/env bash
# What ./run, ./install and ./test say where something is missing: a registry, a folder that can be
# written, a home, a group of that name.
# Tier: patch
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"
need_rust
status=0
WORK="$(mktemp -d -t hairspring-scripts.XXXXXX)"
trap 'rm -rf "$WORK"' EXIT

# Cargo without a network, and without the crates that it has fetched.
no_registry() {
  says 1 "connect to the network" env CARGO_NET_OFFLINE=true CARGO_HOME="$WORK/cargo" \
    RUSTUP_HOME="${RUSTUP_HOME:-${HOME:-/}/.rustup}" "$@"
}

# A clone in a folder that is read-only, even for root.
read_only_clone() {
  says 1 "clone the project into a folder of yours" \
    unshare --map-root-user --mount bash -c "mkdir $WORK/clone &&
      mount -t tmpfs tmpfs $WORK/clone && cp -r run tools $WORK/clone &&
      mount -o remount,ro $WORK/clone && exec $WORK/clone/run"
}

if unshare --map-root-user --mount true 2>/dev/null; then
  step "install without a home" says 2 "HOME is not set" \
    unshare --map-user=1000 env -u HOME ./install
  step "run in a clone that is read-only" read_only_clone
else
  echo "nothing: another user and a read-only clone were not tried, because this system lets nobody" \
    "make a namespace of users"
fi
step "run without a registry" no_registry ./run
step "install without a registry" no_registry ./install "$WORK/installed"
step "install into a folder that cannot be written" says 1 "cannot write into /proc/hairspring" \
  ./install /proc/hairspring
step "remove where nothing is" says 2 "nothing was installed" ./install --remove "$WORK/empty"
step "a group that there is not" says 2 "no test group named" ./test nonsense
step "help" says 0 "./test all" ./test --help
exit "$status"
