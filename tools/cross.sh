#!/usr/bin/env bash
# Builds and runs for ARM and RISC-V on an x86-64 machine:
#
#   tools/cross.sh arm64 build -p hairspring-cli     cargo, for 64-bit ARM (armhf: 32-bit ARM;
#                                                    riscv64: 64-bit RISC-V)
#   tools/cross.sh armhf test -p hairspring-core     tests run in an emulator (qemu-user)
#   tools/cross.sh arm64 --emulate PROGRAM ...       runs a program in the emulator
#   tools/cross.sh riscv64 --check                   whether it can build
#   tools/cross.sh arm64 --run COMMAND ...           runs a command with cargo set up for that
#                                                    processor
#
# Rust's standard library for these processors comes from rustup if that has the target, else from
# Debian: the compiler and the library of one version are unpacked into .cache/cross
# (tools/foreign.sh). For RISC-V, which Debian has from 13 on, they must be installed; RUSTC names
# another compiler.
# The C compilers and the emulators are ordinary packages, which are installed if they are missing.
#
# What is built goes to target/cross, in the profile `dev` without debug information or
# optimisation, which takes a third of the time. Exit status 77: something is missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
. "$ROOT/tools/foreign.sh"

CROSS="$CACHE/cross"
export CARGO_TARGET_DIR="$ROOT/target/cross" CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"
export CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_DEV_OPT_LEVEL=0

usage() { sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 2; }

# Sets what depends on the processor.
choose_architecture() { # NAME
  case "$1" in
    arm64) ARCHITECTURE=arm64 TARGET=aarch64-unknown-linux-gnu TOOLS=aarch64-linux-gnu \
      EMULATOR=qemu-aarch64 ;;
    armhf) ARCHITECTURE=armhf TARGET=armv7-unknown-linux-gnueabihf TOOLS=arm-linux-gnueabihf \
      EMULATOR=qemu-arm ;;
    riscv64) ARCHITECTURE=riscv64 TARGET=riscv64gc-unknown-linux-gnu TOOLS=riscv64-linux-gnu \
      EMULATOR=qemu-riscv64 ;;
    *) usage ;;
  esac
}

# ---- the standard library ------------------------------------------------------------------------

has_target() { # RUSTC
  [ -d "$("$1" --print sysroot 2>/dev/null)/lib/rustlib/$TARGET/lib" ]
}

# The compiler's package, new enough for the project, and the package of its library.
debian_rust() {
  local suffix
  for suffix in -web ""; do
    at_least "$(minimum_rust)" "$(foreign apt-cache policy "rustc$suffix" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][0-9.]*\).*/\1/p')" ||
      continue
    echo "rustc$suffix" "libstd-rust$suffix-dev" && return
  done
  return 1
}

# The packages of the compiler, of its library for this machine, and of the library for ARM.
debian_packages() {
  local rustc library
  read -r rustc library < <(debian_rust) || return
  foreign apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances \
    "$rustc" 2>/dev/null | grep -Ex "$rustc|libstd-rust[a-z0-9.-]*|libllvm[0-9]+" | sort -u
  echo "$library:arm64" "$library:armhf"
}

unpacked_rustc() { echo "$CROSS/root/usr/bin/rustc"; }

# Debian's compiler needs the libraries that are unpacked with it.
use_unpacked_rustc() {
  LD_LIBRARY_PATH="$CROSS/root/usr/lib/$(uname -m)-linux-gnu"
  export LD_LIBRARY_PATH RUSTC
  RUSTC="$(unpacked_rustc)"
  has_target "$RUSTC"
}

unpack_rust() {
  local packages new="$CROSS/root.new"
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return
  update_foreign
  mapfile -t packages < <(debian_packages | tr ' ' '\n')
  [ "${#packages[@]}" -gt 2 ] ||
    { say "Debian's packages of Rust for ARM are not among the lists" && return 1; }
  say "unpacking into .cache/cross: ${packages[*]}"
  rm -rf "$new"
  unpack_foreign "$new" "${packages[@]}" || return
  rm -rf "$CROSS/root"
  mv "$new" "$CROSS/root"
}

need_target() {
  local how
  how="rustup target add $TARGET, or on Debian $(apt_command "libstd-rust-web-dev:$ARCHITECTURE")"
  has_target "${RUSTC:-$(command -v rustc)}" && return
  [ "$ARCHITECTURE" != riscv64 ] ||
    missing "Rust's standard library for $TARGET" \
    "rustup target add $TARGET, or on Debian 13 $(apt_command libstd-rust-dev:riscv64)" || return
  (use_unpacked_rustc) 2>/dev/null || alone unpack_rust || true
  use_unpacked_rustc || missing "Rust's standard library for $TARGET" "$how"
}

# ---- compilers and emulators ---------------------------------------------------------------------

need_tools() {
  need_command "$TOOLS-gcc" "gcc-$TOOLS" "libc6-dev-$ARCHITECTURE-cross" || return
  need_command "$TOOLS-g++" "g++-$TOOLS" || return
  need_command "$EMULATOR" qemu-user
}

# Cargo's settings for the target, by its name in capitals.
set_up_cargo() {
  local name
  name="$(tr 'a-z-' 'A-Z_' <<<"$TARGET")"
  export "CARGO_TARGET_${name}_LINKER=$TOOLS-gcc" "CARGO_TARGET_${name}_RUNNER=$(emulator)"
}

emulator() { echo "$EMULATOR -L /usr/$TOOLS"; }

# Runs a program, which starts itself again through the same emulator and compiles with the compiler
# for that processor.
emulate() { # PROGRAM ARGUMENT...
  # shellcheck disable=SC2046 # the emulator's words
  HAIRSPRING_EMULATOR="$(emulator)" CC="$TOOLS-gcc" CXX="$TOOLS-g++" $(emulator) "$@"
}

main() {
  [ "$#" -ge 2 ] || usage
  choose_architecture "$1"
  shift
  need_tools
  if [ "$1" = --emulate ]; then emulate "${@:2}" && return || return; fi
  need_rust
  need_target
  [ "$1" != --check ] || return 0
  set_up_cargo
  if [ "$1" = --run ]; then exec "${@:2}"; fi
  exec nice -n 5 cargo "$1" --target "$TARGET" \
    --config profile.dev.package.hairspring-capture.opt-level=0 "${@:2}"
}

main "$@"
