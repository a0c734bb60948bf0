#!/usr/bin/env bash
# What no compiler checks: paths that the documents name, paths and addresses of one machine, files and functions that
# have grown too long. tests/tidy.py says what each rule is; tests/tidy-exceptions.txt lists the exceptions with reasons.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

need_command python3 python3
project_files | python3 tests/tidy.py tests/tidy-exceptions.txt
