# shellcheck shell=bash
# The programs and libraries that the packages contain. To be sourced by packaging/build.

# The oldest C library that the dynamic programs and libraries run with, that of manylinux_2_28:
# they call memfd_create, which is from 2.27.
GLIBC=2.28
PACKAGES_TARGET="$ROOT/target/packages"
STATIC_TARGET="$ROOT/target/static"
TOOLS_BIN="$CACHE/packaging-tools/bin"

need_packaging_venv() {
  need_venv "$CACHE/packaging-venv" "$ROOT/tools/packaging-requirements.txt"
}

# Cargo with zig as the linker, which has the symbols of all versions of glibc.
zigbuild() { # TARGET ARGUMENT...
  local target="$1"
  shift
  need_packaging_venv || return
  # A linker that tools/cross.sh named would take the place of zig.
  env -u CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER PATH="$CACHE/packaging-venv/bin:$PATH" \
    CARGO_TARGET_DIR="$PACKAGES_TARGET" \
    cargo zigbuild --quiet --locked --release --target "$target.$GLIBC" "$@"
}

# The folder of what `zigbuild` made.
built_folder() { echo "$PACKAGES_TARGET/$1/release"; } # TARGET

build_dynamic() { zigbuild x86_64-unknown-linux-gnu -p hairspring-cli -p hairspring-capi; }

# The static command. It is linked with the static glibc of the stock toolchain: musl would need a
# nightly compiler to build Rust's library for it, because no registry here has it. A static program
# has no dynamic loader, so it embeds the host, which loads compiled code, as a dynamic program
# (crates/sources/snippet/src/embedded.rs).
build_static() { # TARGET
  local name
  name="$(tr 'a-z-' 'A-Z_' <<<"$1")"
  zigbuild "$1" -p hairspring-snippet --features host-program --bin hairspring-host &&
    fits_old_glibc "$(built_folder "$1")/hairspring-host" || return
  env HAIRSPRING_EMBEDDED_HOST="$(built_folder "$1")/hairspring-host" \
    CARGO_TARGET_DIR="$STATIC_TARGET" \
    "CARGO_TARGET_${name}_RUSTFLAGS=-C target-feature=+crt-static" \
    cargo build --quiet --locked --release --target "$1" -p hairspring-cli || return
  is_static "$STATIC_TARGET/$1/release/hairspring"
}

is_static() { # FILE
  local headers
  need_command readelf binutils && headers="$(readelf --program-headers "$1")" || return
  [[ $headers != *INTERP* ]] || { say "$1 is not static: it names a dynamic loader" && return 1; }
}

# Every symbol of glibc that a file takes is of the oldest version or an older one.
fits_old_glibc() { # FILE
  local newest
  need_command readelf binutils || return
  newest="$(readelf --wide --dyn-syms "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)"
  [ -n "$newest" ] || { say "$1 names no symbol of glibc" && return 1; }
  [ "$(printf '%s\n' "$newest" "GLIBC_$GLIBC" | sort -V | tail -n 1)" = "GLIBC_$GLIBC" ] ||
    { say "$1 takes a symbol of $newest; the oldest C library that it must run with is $GLIBC" &&
    return 1; }
}

# An archive that is the same for the same commit.
archive() { # FILE FOLDER NAME
  tar --create --gzip --file "$1" --directory "$2" --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" "$3"
}

# A tool of cargo's own registry, built once.
need_cargo_tool() { # NAME VERSION
  [ "$("$TOOLS_BIN/$1" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)" = \
    "$2" ] && return
  say "building $1 $2 (cargo install)"
  CARGO_TARGET_DIR="$CACHE/packaging-tools/target" quietly cargo install --quiet --locked \
    --root "${TOOLS_BIN%/bin}" "$1@$2" ||
    missing "$1 $2" "cargo install $1@$2"
}
