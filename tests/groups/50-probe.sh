#!/usr/bin/env bash
# The C code under probe/, with two compilers and all warnings as errors: every header by itself, every file; and the
# programs under probe/tests/ run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

FLAGS=(-std=c11 -Iprobe -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror)
BUILT="$CACHE/probe"

check() { # COMPILER FILE
  echo "$1 $2"
  case "$2" in
    probe/tests/*.c) "$1" "${FLAGS[@]}" "$2" -o "$BUILT/program" -lm && "$BUILT/program" ;;
    *.h) echo "#include \"$2\"" | "$1" "${FLAGS[@]}" -I. -x c -fsyntax-only - ;;
    *) "$1" "${FLAGS[@]}" -fsyntax-only "$2" ;;
  esac
}

mapfile -t sources < <(project_files 'probe/*.c' 'probe/*.h')
if [ "${#sources[@]}" -eq 0 ]; then
  echo "nothing: the project has no C files under probe/"
  exit 0
fi
need_command gcc gcc libc6-dev
need_command clang clang
mkdir -p "$BUILT"

status=0
for file in "${sources[@]}"; do
  for compiler in gcc clang; do check "$compiler" "$file" || status=1; done
done
exit "$status"
