#!/usr/bin/env bash
# All Python files: style and format (ruff), types (mypy, strict), tests (pytest). The tools and
# their versions are in tests/requirements.txt; a folder whose scripts need more packages has its
# own requirements.txt.
# Tier: patch
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

mapfile -t sources < <(project_files '*.py')
if [ "${#sources[@]}" -eq 0 ]; then
  echo "nothing: the project has no Python files"
  exit 0
fi
need_project_venv
PATH="$ROOT/.venv/bin:$PATH"

# mypy and pytest treat files of the same name in different folders as one module, so each folder is
# checked separately, as a user runs it: its files import each other. The tests of the Python
# package need its native module, and those of pages need a browser: the groups python-package and
# browser bring them and run those tests.
check_folder() { # FOLDER
  local status=0 tests=()
  [[ $1 == python/* ]] || mapfile -t tests < <(compgen -G "$1/test_*.py")
  mypy --strict "$1"/*.py || status=1
  [ "${#tests[@]}" -eq 0 ] || pytest --quiet -o cache_dir="$CACHE/pytest" "${tests[@]}" || status=1
  return "$status"
}

export MYPYPATH="$ROOT/python" # the package's types are in its source
status=0
ruff check --line-length 100 --select E,F,W,I,B,UP "${sources[@]}" || status=1
ruff format --line-length 100 --check --diff "${sources[@]}" || status=1
while read -r folder; do
  check_folder "$folder" || status=1
done < <(dirname "${sources[@]}" | sort -u | grep -vx tests/browser)
exit "$status"
