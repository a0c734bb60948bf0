# shellcheck shell=bash
# The packages that are archives: crates, the static command, headers, the list of parts. To be
# sourced by packaging/build.

make_crates() { # FOLDER
  local names=() name options=()
  mapfile -t names < <(python3 tests/packages.py names)
  at_least 1.90 "$(cargo --version | cut -d ' ' -f 2)" ||
    missing "cargo 1.90 or newer, which packages crates together" "rustup update" || return
  for name in "${names[@]}"; do options+=(-p "$name"); done
  CARGO_TARGET_DIR="$WORK/crates-target" quietly cargo package --quiet --no-verify --allow-dirty \
    --locked "${options[@]}" || return
  for name in "${names[@]}"; do
    cp "$WORK/crates-target/package/$name-$VERSION.crate" "$1" || return
  done
}

make_tarball() { # FOLDER
  build_static x86_64-unknown-linux-gnu &&
    tarball "$1" x86_64 "$STATIC_TARGET/x86_64-unknown-linux-gnu/release/hairspring"
}

# Rust's library for ARM is that of rustup or of Debian (tools/cross.sh).
make_arm64() { # FOLDER
  need_packaging_venv && need_command qemu-aarch64 qemu-user || return
  tools/cross.sh arm64 --run packaging/arm64 &&
    tarball "$1" aarch64 "$STATIC_TARGET/aarch64-unknown-linux-gnu/release/hairspring" qemu-aarch64
}

# The static command with its manual pages, completions and licences.
tarball() { # FOLDER PROCESSOR COMMAND [EMULATOR]
  local name="hairspring-$VERSION-$2-linux" top="$WORK/tarball"
  rm -rf "$top" && mkdir -p "$top/$name/bin" || return
  install -m 755 "$3" "$top/$name/bin/hairspring" &&
    cp LICENSE-* README.md CHANGELOG.md "$top/$name" || return
  # shellcheck disable=SC2086 # no word if there is no emulator
  write_manuals "$top/$name" ${4:-} "$top/$name/bin/hairspring" &&
    tools/wasm.sh && write_solver "$top/$name" &&
    archive "$1/$name.tar.gz" "$top" "$name"
}

make_headers() { # FOLDER
  local top="$WORK/headers-top" kind name
  rm -rf "$top" && cp probe/hairspring.h "$1" || return
  for kind in headers conan vcpkg fpm; do
    name="hairspring-$kind-$VERSION"
    mkdir -p "$top/$name" && "fill_$kind" "$top/$name" &&
      archive "$1/$name.tar.gz" "$top" "$name" || return
  done
}

# The headers as a CMake project, for FetchContent.
fill_headers() { # FOLDER
  mkdir -p "$1/arm" "$1/chip" "$1/lmbench" &&
    cp probe/*.h probe/*.hpp probe/CMakeLists.txt probe/headers.cmake LICENSE-* "$1" &&
    cp probe/arm/*.h "$1/arm" && cp probe/chip/*.h "$1/chip" && cp probe/lmbench/*.h "$1/lmbench"
}

# FOLDER
fill_conan() {
  cp -r packaging/conan/conanfile.py packaging/conan/test_package "$1" && fill_headers "$1/headers"
}
# FOLDER
fill_vcpkg() { cp -r packaging/vcpkg "$1/hairspring" && fill_headers "$1/hairspring/headers"; }

fill_fpm() { # FOLDER
  mkdir -p "$1/probe/fortran" && cp fpm.toml LICENSE-* "$1" &&
    cp probe/fortran/hairspring.f90 "$1/probe/fortran"
}

# Crates with their versions, licences and sums, of the command for x86-64.
make_sbom() { # FOLDER
  need_cargo_tool cargo-cyclonedx 0.5.9 || return
  local made=0
  PATH="$TOOLS_BIN:$PATH" quietly cargo cyclonedx --quiet \
    --manifest-path crates/hairspring-cli/Cargo.toml --format json \
    --target x86_64-unknown-linux-gnu --override-filename "hairspring-$VERSION.cdx" || made=$?
  # It writes one beside each manifest of the workspace.
  [ "$made" -ne 0 ] || mv "crates/hairspring-cli/hairspring-$VERSION.cdx.json" "$1" || made=$?
  find crates rigs examples fuzz -name "hairspring-$VERSION.cdx.json" -delete
  return "$made"
}
