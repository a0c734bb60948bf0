#!/usr/bin/env bash
# README's two commands on a bare Debian: ./run, and ./test with the tiers patch and all, in a new
# root (tools/fresh-root.sh). It needs root, and an hour.
# Tier: release
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

[ "$(id -u)" -eq 0 ] || missing "root" "sudo ./test release"
tools/fresh-root.sh both
