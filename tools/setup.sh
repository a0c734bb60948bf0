# shellcheck shell=bash
# Shared steps of ./run, ./test and the test groups: report progress, and install missing tools. To
# be sourced.
#
# Every `need_*` returns 0 once the thing is installed. Otherwise it prints
# `missing: THING: install with COMMAND` and returns 77, so a group under `set -e` that calls one
# ends as "missing".
#
# There is no rust-toolchain file on purpose: it would make rustup fetch one exact version even if a
# newer one is installed. Any Rust from the `rust-version` in Cargo.toml upwards works.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
CACHE="$ROOT/.cache"
MISSING=77

# Everything that is built or cached is in ignored folders of the project, except cargo's registry,
# which is the user's.
export CARGO_TARGET_DIR="$ROOT/target"
export PIP_CACHE_DIR="$CACHE/pip" PIP_DISABLE_PIP_VERSION_CHECK=1
export PYTHONPYCACHEPREFIX="$CACHE/pycache" RUFF_CACHE_DIR="$CACHE/ruff" \
  MYPY_CACHE_DIR="$CACHE/mypy"

# ---- messages ------------------------------------------------------------------------------------

say() { printf 'hairspring: %s\n' "$*" >&2; }

mkdir -p "$CACHE" 2>/dev/null ||
  { say "cannot write into $ROOT: clone the project into a folder of yours" && exit 1; }

# The comment that the running script begins with: its help.
show_header() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; }

missing() { # THING COMMAND
  printf 'missing: %s: install with: %s\n' "$1" "$2" >&2
  return "$MISSING"
}

# Runs a step with its output kept aside, and shows the end of that output only if the step fails.
quietly() {
  local log status=0
  log="$(mktemp "$CACHE/step.XXXXXX")"
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || { say "failed ($status): $*" && tail -n 4 "$log" >&2; }
  rm -f "$log"
  return "$status"
}

# Runs a step of a test group and prints its name; a failure sets the group's `status`, and the
# other steps still run.
step() { # NAME COMMAND...
  local name="$1"
  shift
  # shellcheck disable=SC2034 # the group ends with it
  if "$@"; then echo "ok: $name"; else echo "FAILED: $name" && status=1; fi
}

# A check for `step`: a command ends with a status and prints a text.
says() { # STATUS TEXT COMMAND...
  local ended=0 expected="$1" text="$2" said
  shift 2
  said="$("$@" 2>&1)" || ended=$?
  if [ "$ended" -eq "$expected" ] && [[ $said == *"$text"* ]]; then return 0; fi
  echo "$* ended with $ended, expected $expected and '$text': $said" && return 1
}

# Runs an installing step while no other group installs anything. A step inside of such a step just
# runs.
alone() { # COMMAND...
  if [ -n "${ALONE:-}" ] || ! command -v flock >/dev/null; then
    "$@"
  else
    (flock 9 && ALONE=1 && "$@") 9>"$CACHE/install.lock"
  fi
}

# ---- distribution packages -----------------------------------------------------------------------

# Runs a command as root, or fails. Asks for a password only if somebody can type one.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif ! command -v sudo >/dev/null; then
    return 1
  elif [ -t 2 ] && [ -z "${CI:-}" ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

can_use_apt() { command -v apt-get >/dev/null && as_root true 2>/dev/null; }

# The command with which a user installs packages here.
apt_command() { # PACKAGE...
  if [ "$(id -u)" -eq 0 ]; then
    echo "apt-get install $*"
  elif command -v sudo >/dev/null; then
    echo "sudo apt-get install $*"
  else
    echo "apt-get install $* (as root)"
  fi
}

# Fetches the package lists at most once a day. A broken third-party source is not an error here: if
# the package itself is not available, its installation fails.
apt_update() {
  local stamp="$CACHE/apt-updated"
  if [ -n "$(find "$stamp" -mmin -1440 2>/dev/null)" ] &&
      compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null; then
    return 0
  fi
  say "fetching the package lists (apt-get update)"
  quietly as_root apt-get update -q ||
    say "apt-get update reported errors; continuing with the existing lists"
  touch "$stamp"
}

# --no-remove: the user's packages stay, even if a package that we want conflicts with them.
apt_install() {
  say "installing $* (apt-get install)"
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
    --no-remove \
    -o DPkg::Lock::Timeout=120 "$@"
}

apt_has() { dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^ii'; }

need_apt() { alone install_missing "$@"; } # PACKAGE...

install_missing() { # PACKAGE...
  local wanted=() package
  for package in "$@"; do
    apt_has "$package" || wanted+=("$package")
  done
  [ "${#wanted[@]}" -gt 0 ] || return 0
  if can_use_apt && apt_update && apt_install "${wanted[@]}"; then
    return 0
  fi
  missing "${wanted[*]}" "$(apt_command "${wanted[@]}")"
}

need_command() { # COMMAND PACKAGE...
  local command="$1"
  shift
  command -v "$command" >/dev/null || need_apt "$@"
}

# ---- C -------------------------------------------------------------------------------------------

# clang with the libraries of its sanitizers, which are in a package that Debian's clang does not
# depend on.
need_clang() { # COMMAND
  local version
  need_command "$1" clang || return
  if clang_sanitizes; then return 0; fi
  version="$(clang -dumpversion | cut -d . -f 1)"
  need_apt "libclang-rt-$version-dev" || return
  clang_sanitizes || missing "the sanitizers of clang $version" \
    "$(apt_command "libclang-rt-$version-dev")"
}

clang_sanitizes() {
  echo 'int main(void) { return 0; }' |
    clang -fsanitize=address,undefined -x c -o "$CACHE/sanitized" - 2>/dev/null
}

# ---- Rust ----------------------------------------------------------------------------------------

minimum_rust() { sed -n 's/^rust-version *= *"\(.*\)".*/\1/p' "$ROOT/Cargo.toml"; }

at_least() { # WANTED FOUND
  [ -n "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

# The folders that may contain a toolchain, the best first. Ubuntu has its versioned ones outside
# PATH; the newest comes first.
rust_folders() {
  { type -ap cargo || true; } | sed 's,/cargo$,,'
  echo "${CARGO_HOME:-${HOME:-}/.cargo}/bin"
  compgen -G '/usr/lib/rust-*/bin' | sort -rV || true
  private_rust_folder
}

# Puts the first toolchain that is new enough at the head of PATH.
use_rust() {
  local folder
  while read -r folder; do
    [ -x "$folder/cargo" ] || continue
    at_least "$(minimum_rust)" "$("$folder/rustc" --version 2>/dev/null | cut -d ' ' -f 2)" ||
      continue
    export PATH="$folder:$PATH"
    return 0
  done < <(rust_folders)
  return 1
}

apt_candidate() { # PACKAGE: the upstream part of the version that apt would install
  apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][0-9.]*\).*/\1/p'
}

# Which packages bring a Rust that is new enough: the plain one (Debian 13), the one kept up to date
# for building browsers (Debian 12), or the newest of those with the version in their name (Ubuntu).
apt_rust_packages() {
  local suffix
  while read -r suffix; do
    at_least "$(minimum_rust)" "$(apt_candidate "cargo$suffix")" || continue
    echo "rustc$suffix cargo$suffix"
    return 0
  done < <(printf '\n-web\n' && apt-cache search --names-only '^cargo-[0-9.]+$' |
    sed -n 's/^cargo\(-[0-9.]*\) .*/\1/p' | sort -rV)
  return 1
}

install_rust_packages() {
  local packages
  can_use_apt || return 1
  apt_update
  packages="$(apt_rust_packages)" || return 1
  # shellcheck disable=SC2086 # the names are meant to be split
  apt_install $packages
}

# Uses what another group has just installed.
install_rust() { use_rust || install_rust_packages || install_private_rust; }

private_rust_folder() {
  compgen -G "$CACHE/rust/rustup/toolchains/stable-*/bin" | head -n 1 || true
}

# The last resort, if neither the machine nor its distribution has a suitable toolchain: the
# official one, unpacked inside .cache by an installer from PyPI. It needs access to the Rust
# project's download host.
install_private_rust() {
  [ -z "$(private_rust_folder)" ] || return 0
  need_venv "$CACHE/rust/venv" "$ROOT/tools/rust-requirements.txt" || return 1
  say "installing Rust with clippy and rustfmt into .cache/rust (rustup)"
  quietly "$CACHE/rust/venv/bin/python" -m puccinialin --location "$CACHE/rust" || return 1
  quietly env RUSTUP_HOME="$CACHE/rust/rustup" CARGO_HOME="$CACHE/rust/cargo" \
    "$CACHE/rust/cargo/bin/rustup" component add clippy rustfmt
}

# Cargo, rustc and the C compiler with which rustc links.
need_rust() {
  if ! use_rust; then
    say "no Rust $(minimum_rust) or newer found"
    alone install_rust || true
    use_rust || missing "Rust $(minimum_rust) or newer" "$(rust_command)" || return
  fi
  need_command cc gcc libc6-dev
}

# What to do after a build that failed: cargo's own words are above.
build_failed() {
  say "the build failed, see above. If a crate could not be fetched: connect to the network once (cargo fetch --locked), or set HTTPS_PROXY"
}

# The command with which a user installs Rust here.
rust_command() {
  local packages
  # shellcheck disable=SC2086 # the names are meant to be split
  if packages="$(apt_rust_packages 2>/dev/null)"; then
    apt_command $packages
  else
    echo "rustup (https://rustup.rs)"
  fi
}

# The origin of the Rust in use: `rustup`, or the name of its package.
rust_origin() {
  local rustc
  rustc="$(command -v rustc)"
  if [ -x "$(dirname "$rustc")/rustup" ]; then
    echo rustup
  else
    dpkg -S "$(readlink -f "$rustc")" 2>/dev/null | cut -d : -f 1
  fi
}

# The package of `fmt` or `clippy` that fits the Rust in use; nothing if there is none.
rust_tool_package() { # TOOL
  case "$1:$(rust_origin)" in
    fmt:rustc*) rust_origin | sed 's/^rustc/rustfmt/' ;;
    clippy:rustc) echo rust-clippy ;;
    clippy:rustc-web) echo rust-web-clippy ;;
    clippy:rustc-[0-9]*) rust_origin | sed 's/^rustc-\(.*\)/rust-\1-clippy/' ;;
  esac
}

install_rust_tool() { # TOOL
  local tool="$1" package
  package="$(rust_tool_package "$tool")"
  if [ "$(rust_origin)" = rustup ]; then
    say "installing cargo $tool (rustup component add)"
    quietly rustup component add "${tool/#fmt/rustfmt}"
  elif [ -n "$package" ] && can_use_apt && apt_update && apt_install "$package"; then
    return 0
  else
    install_private_rust
  fi
}

# `cargo fmt` or `cargo clippy`.
need_rust_tool() { # TOOL
  local tool="$1" package
  need_rust || return
  cargo "$tool" --version >/dev/null 2>&1 && return 0
  alone install_rust_tool "$tool" || true
  cargo "$tool" --version >/dev/null 2>&1 && return 0
  package="$(private_rust_folder)"
  [ -z "$package" ] || PATH="$package:$PATH"
  cargo "$tool" --version >/dev/null 2>&1 && return 0
  package="$(rust_tool_package "$tool")"
  missing "cargo $tool" "${package:+$(apt_command "$package"), or }rustup component add ${tool/#fmt/rustfmt} (https://rustup.rs)"
}

# ---- Python --------------------------------------------------------------------------------------

need_python() {
  need_command python3 python3 || return
  python3 -c 'import venv, ensurepip' 2>/dev/null || need_apt python3-venv
}

# A virtual environment FOLDER with exactly the pinned packages of the REQUIREMENTS files; it is
# made again when they change.
need_venv() { alone make_venv "$@"; } # FOLDER REQUIREMENTS...

# The environment of the project's own scripts and tests, .venv, with the packages of every
# requirements file outside tools/.
need_project_venv() {
  local requirements
  mapfile -t requirements < <(project_files '*requirements.txt' | grep -v '^tools/')
  need_venv "$ROOT/.venv" "${requirements[@]}"
}

make_venv() { # FOLDER REQUIREMENTS...
  local folder="$1" file arguments=()
  shift
  if cat "$@" | cmp -s - "$folder/installed.txt"; then return 0; fi
  need_python || return
  for file in "$@"; do arguments+=(-r "$file"); done
  say "installing Python packages into ${folder#"$ROOT/"} (pip)"
  { quietly python3 -m venv --clear "$folder" &&
    quietly "$folder/bin/pip" install "${arguments[@]}"; } ||
    { missing "Python packages" "pip install ${arguments[*]}" || return; }
  cat "$@" >"$folder/installed.txt"
}

# ---- the project's files -------------------------------------------------------------------------

# Every file of the project that .gitignore does not exclude, including new ones, relative to its
# root; optionally only those that match. An empty repository in .cache lists them, so that this
# works in a clone, in an unpacked archive and in a folder that belongs to somebody else.
# shellcheck disable=SC2120 # the patterns are optional
project_files() { # [PATTERN...]
  local empty="$CACHE/empty.git"
  need_command git git || return
  [ -e "$empty/HEAD" ] || alone git init -q --bare "$empty" || return
  git -C "$ROOT" -c core.bare=false -c core.quotePath=false --git-dir="$empty" --work-tree="$ROOT" \
    ls-files --others --exclude-standard -- "$@"
}
