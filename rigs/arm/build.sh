# shellcheck shell=bash
# Builds the programs without a system and runs them in QEMU. To be sourced.
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT" || exit

RIG="$ROOT/rigs/arm"
BUILT="$CACHE/arm"
WARNINGS=(-Wall -Wextra -Wpedantic -Wconversion -Werror)
FREE=(-std=gnu11 -O1 -ffreestanding -nostdlib "${WARNINGS[@]}" -Iprobe -Iprobe/arm "-I$RIG/metal")
A32=(-marm -mfloat-abi=soft -mno-unaligned-access)
A64=(-mgeneral-regs-only -mstrict-align -fno-pie)
# An instruction takes 1 ns, which is a cycle of 1 GHz, and idle time is skipped: the same results
# in each run.
COUNTED=(-icount "shift=0,sleep=off")

need_metal() {
  need_command gcc gcc libc6-dev
  need_command clang clang
  need_apt qemu-system-arm gcc-arm-none-eabi gcc-aarch64-linux-gnu
  mkdir -p "$BUILT"
}

# A program of metal/ for a core: cortex-a15, cortex-m4 ...
metal() { # CORE NAME FILE [FLAG...]
  local core="$1" output="$BUILT/$1-$2.elf" file="$RIG/metal/$3"
  shift 3
  case "$core" in
    cortex-a53 | cortex-a72) aarch64-linux-gnu-gcc "-mcpu=$core" "${FREE[@]}" "${A64[@]}" -static \
      -no-pie -Wl,--build-id=none -Wl,-z,max-page-size=4096 "$@" \
      -T "$RIG/metal/a.ld" "$RIG/metal/start_a64.S" "$RIG/metal/rig.c" "$file" -lgcc -o "$output" ;;
    cortex-a*) arm-none-eabi-gcc "-mcpu=$core" "${FREE[@]}" "${A32[@]}" "$@" \
      -T "$RIG/metal/a.ld" "$RIG/metal/start_a32.S" "$RIG/metal/rig.c" "$file" -lgcc -o "$output" ;;
    cortex-m*) arm-none-eabi-gcc "-mcpu=$core" -mthumb "${FREE[@]}" "$@" \
      -T "$RIG/metal/m.ld" "$RIG/metal/start_m.S" "$RIG/metal/rig.c" "$file" -lgcc -o "$output" ;;
  esac
}

# The board with a core.
board_of() { # CORE
  case "$1" in
    cortex-a53 | cortex-a72) echo "qemu-system-aarch64 -M virt,gic-version=2 -nic none" ;;
    cortex-a8) echo "qemu-system-arm -M cubieboard -m 512 -net none" ;;
    cortex-a*) echo "qemu-system-arm -M virt -nic none" ;;
    cortex-m3) echo "qemu-system-arm -M mps2-an385 -net none" ;;
    cortex-m4) echo "qemu-system-arm -M mps2-an386 -net none" ;;
    cortex-m7) echo "qemu-system-arm -M mps2-an500 -net none" ;;
  esac
}

# Runs a program; its output goes to standard output, its failures are the status.
emulate() { # CORE NAME [OPTION...]: later options replace earlier ones
  local core="$1" name="$2" board
  shift 2
  read -ra board < <(board_of "$core")
  timeout 300 "${board[@]}" -cpu "$core" "${COUNTED[@]}" -nographic -monitor none -serial none \
    -semihosting-config enable=on,target=native -kernel "$BUILT/$core-$name.elf" "$@" 2>&1 \
    </dev/null
}
