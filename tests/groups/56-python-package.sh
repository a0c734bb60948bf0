#!/usr/bin/env bash
# The Python package (python/, crates/hairspring-python): the wheel is built as pip builds it, from
# the project and from its source archive, and installed; the tests, the examples and the examples
# in the documentation run with the installed package; the types of its stub are those of the native
# module.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

BUILT="$CACHE/python-package-built"
VENV="$CACHE/python-package"
status=0

# Without --no-build-isolation pip would fetch maturin again for every build.
build_wheel() { # FROM TO
  quietly pip wheel --no-deps --no-build-isolation --wheel-dir "$2" "$1"
}

# The source archive contains everything that is needed to build the wheel, including the crates. It
# is built with little optimisation, because nothing is measured with it. The files in it have an
# old date, by which cargo would take what it built from another archive for theirs; unpacked with
# `--touch` they are of today.
build_from_archive() {
  mkdir -p "$BUILT/unpacked"
  (cd python && quietly python \
    -c 'import sys, hairspring_build as build; build.build_sdist(sys.argv[1])' "$BUILT/archive") &&
    tar --extract --touch --gzip --file "$(compgen -G "$BUILT/archive/hairspring-*.tar.gz")" \
    --directory "$BUILT/unpacked" &&
    MATURIN_PEP517_ARGS="--profile dev" build_wheel "$(compgen -G "$BUILT/unpacked/hairspring-*")" \
    "$BUILT/again" &&
    compgen -G "$BUILT/again/hairspring-*-abi3-*.whl" >/dev/null
}

run_example() { # FILE ARGUMENT...
  "$VENV/bin/python" "$@" >"$BUILT/example.txt" && [ -s "$BUILT/example.txt" ]
}

# What `hairspring new` writes into a project of Python measures, and satisfies its checkers.
first_benchmark() {
  local project="$BUILT/new"
  mkdir -p "$project" && touch "$project/pyproject.toml" &&
    quietly cargo run --quiet -p hairspring-cli -- new "$project" &&
    quietly mypy --strict "$project/benchmarks/speed.py" &&
    quietly ruff format --line-length 100 --check "$project/benchmarks/speed.py" &&
    run_example "$project/benchmarks/speed.py" --budget 50ms
}

need_rust
need_venv "$VENV" tests/requirements.txt python/tests/requirements.txt
rm -rf "$BUILT"
mkdir -p "$BUILT"
PATH="$VENV/bin:$PATH"

build_wheel ./python "$BUILT"
quietly pip install --force-reinstall --no-deps "$BUILT"/hairspring-*.whl

step "ruff on the stub" ruff check --line-length 100 --select E,F,W,I,B,UP \
  python/hairspring/_native.pyi
step "ruff format on the stub" ruff format --line-length 100 --check python/hairspring/_native.pyi
step "mypy on the package" mypy --strict -p hairspring
step "mypy on its tests" mypy --strict python/tests/*.py
step "the stub against the module" python -m mypy.stubtest hairspring._native \
  --ignore-disjoint-bases
step "tests" pytest --quiet -p no:cacheprovider python/tests
step "examples in the documentation" pytest --quiet -p no:cacheprovider --doctest-modules \
  --pyargs hairspring
for example in examples/python/{first,statement,sort,alternatives,fit}.py; do
  step "$example" run_example "$example"
done
step "examples/python/program.py" run_example examples/python/program.py --budget 50ms
step "hairspring new" first_benchmark
step "the wheel from the source archive" build_from_archive
exit "$status"
