#!/usr/bin/env bash
# The oldest Rust that Cargo.toml declares (`rust-version`) builds every crate, with the versions in
# Cargo.lock. A compiler of exactly that version is the one in use, rustup's, or the distribution's
# (unpacked into .cache, so that no installed package must be removed for it), or rustup fetches it.
# The declared versions of dependencies are not enough: some need a newer Rust than they declare, or
# declare none. Clippy's `incompatible_msrv` (group clippy) checks our own code on every machine,
# and names the place. The command is also checked as a first ./run builds it, which no other group
# does.
# Tier: all
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

OLDEST="$CACHE/msrv"
UNPACKED="$OLDEST/unpacked"
status=0

is_oldest() { # FOLDER: whether its compiler is of the declared version
  [ -x "$1/cargo" ] || return 1
  [[ "$(LD_LIBRARY_PATH="$(libraries "$1")" "$1/rustc" --version 2>/dev/null)" == "rustc $(minimum_rust)."* ]]
}

# The folders of the unpacked compiler's libraries; nothing for an installed compiler.
libraries() { # FOLDER
  [[ $1 != "$UNPACKED"/* ]] || find "$UNPACKED" -name '*.so*' -path '*-linux-gnu/*' -printf '%h\n' |
    sort -u | paste -sd :
}

oldest_folder() {
  local folder
  while read -r folder; do
    is_oldest "$folder" && echo "$folder" && return 0
  done < <(all_folders)
  return 1
}

# The folders that may contain a compiler; some may not exist.
all_folders() {
  rust_folders
  compgen -G "${RUSTUP_HOME:-${HOME:-}/.rustup}/toolchains/*/bin" || true
  echo "$UNPACKED/usr/bin"
  compgen -G "$UNPACKED/usr/lib/rust-*/bin" || true
}

# The version of a package that belongs to the declared Rust, if the distribution has one.
packaged_version() { # PACKAGE
  apt-cache madison "$1" 2>/dev/null |
    sed -n "s/^[^|]*| *\($(minimum_rust | sed 's/\./\\./')\.[^ ]*\) .*/\1/p" | head -n 1
}

# The dependencies of a package; the first one of alternatives.
needed_by() { # PACKAGE[=VERSION]
  apt-cache depends "$1" | awk '/^ *\|Depends:/ { if (!other) print $2; other = 1; next } /^ *Depends:/ { if (!other) print $2; other = 0 }' |
    grep -v '^<' || true
}

# A package of the compiler's version, and all its dependencies that are not installed, as arguments
# of `apt-get download`.
packages_for() { # VERSION PACKAGE...
  local version="$1" queue=("${@:2}") seen=' ' package
  while [ "${#queue[@]}" -gt 0 ]; do
    package="${queue[0]}" queue=("${queue[@]:1}")
    [[ $seen != *" $package "* ]] || continue
    seen+="$package "
    case "$package" in
      rustc* | cargo* | libstd-rust*) package+="=$version" ;;
      *) ! apt_has "$package" || continue ;;
    esac
    echo "$package"
    mapfile -t -O "${#queue[@]}" queue < <(needed_by "$package")
  done
}

unpack_packages() { # VERSION PACKAGE...
  local packages package
  mapfile -t packages < <(packages_for "$@")
  say "unpacking ${packages[*]} into .cache/msrv (apt-get download)"
  rm -rf "$UNPACKED" "$OLDEST/packages"
  mkdir -p "$UNPACKED" "$OLDEST/packages"
  (cd "$OLDEST/packages" && quietly apt-get download "${packages[@]}") || return
  for package in "$OLDEST"/packages/*.deb; do dpkg-deb -x "$package" "$UNPACKED" || return; done
  rm -rf "$OLDEST/packages"
}

from_distribution() {
  local suffix version
  command -v apt-get >/dev/null || return 1
  ! can_use_apt || apt_update
  for suffix in '' -web "-$(minimum_rust)"; do
    version="$(packaged_version "rustc$suffix")"
    [ -z "$version" ] || { unpack_packages "$version" "rustc$suffix" "cargo$suffix" && return; }
  done
  return 1
}

from_rustup() {
  command -v rustup >/dev/null || return 1
  say "fetching Rust $(minimum_rust) (rustup toolchain install)"
  quietly timeout 300 rustup toolchain install "$(minimum_rust)" --profile minimal
}

need_oldest_rust() {
  oldest_folder >/dev/null || from_distribution || from_rustup || true
  oldest_folder >/dev/null ||
    missing "Rust $(minimum_rust)" "rustup toolchain install $(minimum_rust)"
}

builds() { # FOLDER
  PATH="$1:$PATH" LD_LIBRARY_PATH="$(libraries "$1")" RUSTC="$1/rustc" \
    CARGO_TARGET_DIR="$OLDEST/target" \
    "$1/cargo" check --quiet --workspace --lib --bins --locked
}

need_rust
need_rust_tool clippy
need_command python3 python3
step "the command as ./run builds it first, without some of its verbs" \
  cargo clippy --quiet -p hairspring-cli --no-default-features -- -D warnings
step "rust-version of the dependencies" python3 tests/packages.py rust-version
need_oldest_rust
folder="$(oldest_folder)"
step "builds with $(LD_LIBRARY_PATH="$(libraries "$folder")" "$folder/rustc" --version)" builds \
  "$folder"
exit "$status"
