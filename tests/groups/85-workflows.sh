#!/usr/bin/env bash
# The workflows of .github: their keys, expressions and scripts, by actionlint, which has the
# scripts checked by shellcheck. The action of ci/ against the schema of actions.
# Tier: release
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

VERSION=v1.7.7
PROGRAM="$CACHE/actionlint-$VERSION/actionlint"

need_command shellcheck shellcheck
if [ ! -x "$PROGRAM" ]; then
  need_command go golang-go
  quietly env GOBIN="${PROGRAM%/*}" go install "github.com/rhysd/actionlint/cmd/actionlint@$VERSION"
fi
"$PROGRAM" -color=false .github/workflows/*.yml

need_venv "$CACHE/actions" tools/actions-requirements.txt
"$CACHE/actions/bin/check-jsonschema" --builtin-schema vendor.github-actions ci/action.yml
