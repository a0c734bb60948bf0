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
library_folders() { echo "$WORK"/crates/hairspring-[0-9]* "$WORK"/crates/hairspring-capi-*; }

prepare() {
  local folder folders
  unpack
  mkdir -p "$HOME/.cargo"
  read -ra folders < <(library_folders)
  for folder in "$(command_folder)" "${folders[@]}"; do
    (cd "$folder" && cargo fetch --quiet --config "$WORK/patches.toml")
  done
}

check_libraries() {
  local folder folders
  read -ra folders < <(library_folders)
  for folder in "${folders[@]}"; do
    (cd "$folder" && cargo check --quiet --offline --config "$WORK/patches.toml") ||
      fail "$(basename "$folder") does not compile"
  done
}

install() {
  cd "$(command_folder)"
  cargo install --quiet --offline --path . --config "$WORK/patches.toml"
  measures "$HOME/.cargo/bin/hairspring"
}

try() {
  no_network
  timed install
  check_libraries
  cargo uninstall --quiet hairspring-cli
  rm -rf "$HOME/.cargo"
}

"$1"
