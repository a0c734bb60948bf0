#!/usr/bin/env bash
# Rules that no compiler checks: links, tables and code blocks of the documents
# (tests/book_pages.py); paths that the documents name, paths and addresses of one machine, and
# lengths of files and functions. tests/tidy.py describes each of these; tests/tidy-exceptions.txt
# lists the exceptions with reasons.
# Tier: patch
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"
status=0

pages() { project_files '*.md' | python3 tests/book_pages.py; }
changes() { python3 tools/changelog.py check; }
version() { python3 tools/version.py check; }
rules() { project_files | python3 tests/tidy.py tests/tidy-exceptions.txt; }

need_project_venv
PATH="$ROOT/.venv/bin:$PATH"

step "links, tables, code blocks" pages
step "fragments of the changelog" changes
step "copies of the version" version
step "paths, addresses, lengths" rules
exit "$status"
