#!/usr/bin/env bash
# The fleet of examples/fleet/slurm on a real Slurm: a controller and two nodes on this machine.
# Each node has a host name, processes and CPUs of its own. One is killed in the middle of its task,
# comes back, and resubmit.sh brings the whole result (tests/slurm/cluster.sh). ReFrame submits its
# checks there, too. It needs root, two cores and 6 minutes. Debian's packages are unpacked below
# .cache and not installed; all processes are in a namespace that ends with this script.
# HAIRSPRING=PATH uses a command that is already built.
# Tier: release
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"
status=0
PACKAGES=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)
ARCHIVES="$CACHE/slurm/archives"
CLUSTER='' WORK=''

clean_up() {
  [ -z "$CLUSTER" ] || kill -KILL "$CLUSTER" 2>/dev/null || true
  [ -z "$CLUSTER" ] || wait "$CLUSTER" 2>/dev/null || true
  [ -z "$WORK" ] || rm -rf "$WORK"
}

need_binary() {
  [ -z "${HAIRSPRING:-}" ] || return 0
  need_rust || return
  cargo build --package hairspring-cli
  HAIRSPRING="$CARGO_TARGET_DIR/debug/hairspring"
}

# Fetches the packages and what they depend on, as far as this machine lacks it. Installing them
# would start daemons and make users.
fetch_packages() {
  if ! compgen -G "$ARCHIVES/slurmd_*.deb" >/dev/null; then
    mkdir -p "$ARCHIVES/partial"
    apt_update
    say "fetching ${PACKAGES[*]} into .cache/slurm (apt-get install --download-only)"
    quietly apt-get install --yes --quiet=2 --download-only --no-install-recommends --reinstall \
      -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$ARCHIVES" \
      "${PACKAGES[@]}"
  fi
}

# All that the nodes and an ordinary user need, in a folder that both can read.
fill() {
  local package
  for package in "$ARCHIVES"/*.deb; do dpkg-deb -x "$package" "$WORK/root" || return; done
  cp -r examples/fleet/slurm "$WORK/fleet" &&
    cp "$HAIRSPRING" "$WORK/hairspring" &&
    gcc -O2 -Iprobe examples/c/multiply.c -o "$WORK/multiply" &&
    mkdir -p "$WORK/checks/programs" && cp examples/fleet/reframe/*.py "$WORK/checks" &&
    cp "$WORK/multiply" "$WORK/checks/programs/benchmarks"
}

# A separate network keeps the ports apart from those of this machine.
run_cluster() {
  setpriv --pdeathsig KILL unshare --mount --pid --net --uts --ipc --fork --kill-child \
    --mount-proc bash tests/slurm/cluster.sh "$WORK" &
  CLUSTER=$!
  wait "$CLUSTER"
}

cores() { lscpu --parse=CORE,SOCKET | grep -v '^#' | sort -u | wc -l; }

[ "$(id -u)" -eq 0 ] || missing "root" "sudo ./test slurm"
need_command jq jq
need_command ip iproute2
need_command gcc gcc libc6-dev
need_command unshare util-linux
[ "$(cores)" -ge 2 ] || missing "two cores" "a machine with two cores"
need_venv "$CACHE/fleet" tools/fleet-requirements.txt
need_binary

trap clean_up EXIT
trap 'exit 130' INT TERM HUP
WORK="$(mktemp -d -t hairspring-slurm.XXXXXX)"
chmod 755 "$WORK"
step "bound.sh refuses what it should" bash tests/slurm/bound.sh
step "Slurm and munge are fetched" fetch_packages
step "they are unpacked" fill
[ "$status" -ne 0 ] || step "the fleet" run_cluster
exit "$status"
