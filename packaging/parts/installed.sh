# shellcheck shell=bash
# The packages that an installer unpacks: the wheel and Debian's. To be sourced by packaging/build.

make_wheel() { # FOLDER
  local built module
  build_dynamic || return
  built="$(built_folder x86_64-unknown-linux-gnu)"
  fits_old_glibc "$built/hairspring" || return
  (
    cd python || exit
    export CARGO_TARGET_DIR="$PACKAGES_TARGET" HAIRSPRING_COMMAND="$built/hairspring"
    export MATURIN_PEP517_ARGS="--zig --compatibility manylinux_2_28 --target x86_64-unknown-linux-gnu --locked"
    quietly env PATH="$CACHE/packaging-venv/bin:$PATH" python -c 'import sys, hairspring_build as build; build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])' "$1"
  ) || return
  module="$WORK/wheel-module"
  rm -rf "$module" && python3 -m zipfile --extract "$1"/hairspring-*.whl "$module" &&
    fits_old_glibc "$module/hairspring/_native.abi3.so"
}

# Debian's packages are of the same programs as the wheel's. They name the C library that Debian's
# table of symbols asks for, which is newer than the oldest one that has them.
make_deb() { # FOLDER
  local stage="$ROOT/target/debian" built
  need_command cmake cmake make && need_command dpkg-shlibdeps dpkg-dev &&
    need_cargo_tool cargo-deb 3.8.0 && build_dynamic || return
  built="$(built_folder x86_64-unknown-linux-gnu)"
  fits_old_glibc "$built/libhairspring_capi.so" || return
  rm -rf "$stage" && mkdir -p "$stage" &&
    install -m 755 "$built/hairspring" -D "$stage/usr/bin/hairspring" &&
    tools/wasm.sh && write_solver "$stage/usr" &&
    write_manuals "$stage/usr" "$built/hairspring" && gzip -9 -n -r "$stage/usr/share/man" &&
    stage_library "$stage" "$built" && stage_texts "$stage" &&
    cargo_deb "$1" hairspring-cli && cargo_deb "$1" hairspring-capi &&
    cargo_deb "$1" hairspring-capi --variant dev
}

stage_library() { # STAGE BUILT
  quietly cmake -S crates/hairspring-capi -B "$WORK/deb-cmake" -DHAIRSPRING_BUILT="$2" \
    -DCMAKE_INSTALL_LIBDIR="lib/x86_64-linux-gnu" -DCMAKE_INSTALL_PREFIX=/usr &&
    quietly cmake --build "$WORK/deb-cmake" &&
    quietly env DESTDIR="$1" cmake --install "$WORK/deb-cmake" &&
    chmod 644 "$1"/usr/lib/x86_64-linux-gnu/libhairspring.so.0
}

# What Debian wants beside the files: the changelog and the licences.
stage_texts() { # STAGE
  local day
  day="$(LC_ALL=C date --utc --date="@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')"
  printf 'hairspring (%s-1) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md of the project tells its changes.\n\n -- %s  %s\n' \
    "$VERSION" "$VERSION" "$(sed -n 's/^maintainer = "\(.*\)"/\1/p' crates/hairspring-cli/Cargo.toml)" "$day" >"$1/changelog" &&
    { printf '%s\n\n' 'Copyright 2026 The Hairspring developers' \
    'MIT, or Apache-2.0 (/usr/share/common-licenses/Apache-2.0), at your choice. MIT:' &&
    cat LICENSE-MIT && printf '\n%s\n\n' 'The font of plots, DejaVu Sans, reduced:' &&
    cat crates/hairspring-plot/fonts/LICENSE-DEJAVU; } >"$1/copyright"
}

# cargo-deb takes the files as they are staged; nothing is built or stripped again.
cargo_deb() { # FOLDER PACKAGE OPTION...
  local folder="$1" package="$2"
  shift 2
  quietly env CARGO_TARGET_DIR="$PACKAGES_TARGET" "$TOOLS_BIN/cargo-deb" deb --quiet --no-build \
    --no-strip --locked -p "$package" \
    --target x86_64-unknown-linux-gnu --output "$folder/" "$@"
}
