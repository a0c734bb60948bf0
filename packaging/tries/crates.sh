#!/usr/bin/env bash
# cargo installs the command from the packages of the crates. No registry has them yet, so their
# folders take its place; the crates that they depend on are fetched before. The build takes
# minutes.
# Needs: rustc-web cargo-web ca-certificates
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

unpack() {
  local crate
  mkdir -p "$WORK/crates" &&
    for crate in "$DIST"/*.crate; do tar -xzf "$crate" -C "$WORK/crates"; done
  write_patches >"$WORK/patches.toml"
}

# Every crate of the project comes from its folder.
write_patches() {
  local folder name
  echo '[patch.crates-io]'
  for folder in "$WORK"/crates/*; do
    name="$(basename "$folder")"
    echo "${name%-[0-9]*} = { path = \"$folder\" }"
  done
}

command_folder() { echo "$WORK"/crates/hairspring-cli-*; }

# What the command does not depend on: the crate for benchmarks, with its macros, and the library
# for C.
in_libraries() { # COMMAND...
  local folder
  for folder in "$WORK"/crates/hairspring-[0-9]* "$WORK"/crates/hairspring-capi-*; do
    (cd "$folder" && "$@" --config "$WORK/patches.toml") || fail "$(basename "$folder"): $*"
  done
}

prepare() {
  unpack
  mkdir -p "$HOME/.cargo"
  in_libraries cargo fetch --quiet
  cd "$(command_folder)"
  cargo fetch --quiet --config "$WORK/patches.toml"
}

install() {
  cd "$(command_folder)"
  cargo install --quiet --offline --path . --config "$WORK/patches.toml"
  measures "$HOME/.cargo/bin/hairspring"
}

try() {
  no_network
  timed install
  in_libraries cargo check --quiet --offline
  cargo uninstall --quiet hairspring-cli
  rm -rf "$HOME/.cargo"
}

"$1"
