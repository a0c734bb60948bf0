#!/usr/bin/env bash
# Rules that no compiler checks: paths that the documents name, paths and addresses of one machine, and lengths of files and
# functions. tests/tidy.py describes each rule; tests/tidy-exceptions.txt lists the exceptions with reasons.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_command python3 python3
project_files | python3 tests/tidy.py tests/tidy-exceptions.txt
