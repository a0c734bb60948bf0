# shellcheck shell=bash
# Fetches Debian's kernels for ARM, builds the modules and the guest's program for them, and boots
# them in QEMU. To be sourced after build.sh. A flavour is armmp, rt-armmp or arm64; everything is
# below .cache/arm.

. "$ROOT/tools/foreign.sh"

KERNELS="$BUILT/kernels"

debian_architecture() { if [ "$1" = arm64 ]; then echo arm64; else echo armhf; fi; } # FLAVOUR
common_of() { if [ "$1" = rt-armmp ]; then echo common-rt; else echo common; fi; }    # FLAVOUR
# FLAVOUR
prefix_of() {
  if [ "$1" = arm64 ]; then
    echo aarch64-linux-gnu-
  else
    echo arm-linux-gnueabihf-
  fi
}

need_linux() { # FLAVOUR...
  local flavour
  need_apt qemu-system-arm make cpio device-tree-compiler gcc-arm-linux-gnueabihf \
    g++-arm-linux-gnueabihf \
    libc6-dev-armhf-cross gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
  for flavour in "$@"; do
    alone fetch_kernel "$flavour" ||
      missing "Debian's kernel $flavour" "a connection to a Debian mirror"
  done
}

# ---- Debian's packages ---------------------------------------------------------------------------

# The kernel's version with its flavour, 6.1.0-50-armmp: the name of the package that
# linux-image-FLAVOUR depends on.
kernel_version() { # FLAVOUR
  foreign apt-cache depends "linux-image-$1:$(debian_architecture "$1")" |
    sed -n 's/.*Depends: linux-image-\([0-9][^: ]*\).*/\1/p' | head -n 1
}

fetch_kernel() { # FLAVOUR
  local flavour="$1" architecture version release
  [ ! -e "$KERNELS/$flavour/version" ] || return 0
  [ "$(dpkg --print-architecture)" = amd64 ] ||
    missing "the kernel's build tools for this machine" "an x86-64 machine" || return
  architecture="$(debian_architecture "$flavour")"
  update_foreign
  version="$(kernel_version "$flavour")"
  [ -n "$version" ] || return
  release="${version%-"$flavour"}"
  say "fetching Debian's kernel $version (apt-get download)"
  rm -rf "${KERNELS:?}/$flavour"
  unpack_foreign "$KERNELS/$flavour" "linux-image-$version:$architecture" \
    "linux-headers-$version:$architecture" \
    "linux-headers-$release-$(common_of "$flavour"):all" "linux-kbuild-${release%.*}:amd64" ||
    return
  rm -rf "$KERNELS/$flavour"/lib/modules
  # The headers expect to be below /usr/src.
  sed -i "s#/usr/src/#$KERNELS/$flavour/usr/src/#" \
    "$KERNELS/$flavour/usr/src/linux-headers-$version/Makefile"
  echo "$version" >"$KERNELS/$flavour/version"
}

# ---- building ------------------------------------------------------------------------------------

# The modules of a folder of the project, built in a copy of its tree.
build_modules() { # FLAVOUR FOLDER
  local flavour="$1" tree="$BUILT/linux-$1/tree" architecture=arm version
  [ "$flavour" != arm64 ] || architecture=arm64
  version="$(cat "$KERNELS/$flavour/version")"
  mkdir -p "$tree/probe" "$tree/rigs/arm"
  cp -r probe/arm probe/linux "$tree/probe"
  cp -r rigs/arm/linux "$tree/rigs/arm"
  quietly make -C "$KERNELS/$flavour/usr/src/linux-headers-$version" "M=$tree/$2" \
    "ARCH=$architecture" \
    "CROSS_COMPILE=$(prefix_of "$flavour")" "CC=$(prefix_of "$flavour")gcc" KCFLAGS=-Werror \
    modules &&
    cp "$tree/$2"/*.ko "$BUILT/linux-$flavour/root" &&
    "$(prefix_of "$flavour")strip" --strip-debug "$BUILT/linux-$flavour/root"/*.ko
}

# Programs that are linked with the C library, under their own names or others, and its files.
add_programs() { # FLAVOUR PROGRAM[:NAME]...
  local into="$BUILT/linux-$1/root" prefix program
  prefix="$(prefix_of "$1")"
  shift
  mkdir -p "$into/lib" "$into/tmp"
  for program in "$@"; do
    "${prefix}strip" "${program%:*}" -o "$into/$(basename "${program#*:}")" || return
  done
  cp -L "/usr/${prefix%-}"/lib/{ld-linux-*.so.*,libc.so.6,libm.so.6,libgcc_s.so.1} "$into/lib"
}

# The program that is the guest's first process, with the modules and other programs, as an archive
# for the kernel.
build_guest() { # FLAVOUR [PROGRAM[:NAME]...]
  local folder="$BUILT/linux-$1"
  rm -rf "$folder"
  mkdir -p "$folder/root/dev" "$folder/root/proc" "$folder/root/sys"
  build_modules "$1" probe/linux && build_modules "$1" rigs/arm/linux || return
  "$(prefix_of "$1")gcc" -std=gnu11 -O2 -static "${WARNINGS[@]}" -Iprobe \
    -Iprobe/arm "-I$RIG/metal" "-I$RIG/linux" \
    "$RIG/linux/init.c" "$RIG/linux/tables.c" "$RIG/linux/command.c" -o "$folder/root/init" ||
    return
  [ "$#" -eq 1 ] || add_programs "$@" || return
  (cd "$folder/root" && find . | cpio --quiet -o -H newc -R 0:0) >"$folder/initrd.cpio"
}

# QEMU's description of its Cortex-A15 board leaves out what perf needs.
describe_board() { # FLAVOUR CORE
  local blob="$BUILT/linux-$1/board.dtb"
  qemu-system-arm -M "virt,dtb-randomness=off,dumpdtb=$blob" -cpu "$2" -m 512 -nic none \
    -display none 2>/dev/null
  fdtput -t s "$blob" /pmu compatible arm,cortex-a15-pmu
  fdtput -t x "$blob" /pmu interrupts 1 7 104
}

# Boots a flavour; what it prints goes to standard output. Words are for the kernel's command line:
# hairspring=SCENARIO ...
boot() { # FLAVOUR CORE WORDS [OPTION...]
  local flavour="$1" core="$2" words="$3" machine version
  shift 3
  version="$(cat "$KERNELS/$flavour/version")"
  machine=(qemu-system-arm -M "virt,dtb-randomness=off")
  if [ "$flavour" = arm64 ]; then
    machine=(qemu-system-aarch64 -M "virt,gic-version=3,dtb-randomness=off")
  elif [ "$core" = cortex-a8 ]; then
    machine=(qemu-system-arm -M cubieboard \
      -dtb "$KERNELS/$flavour/usr/lib/linux-image-$version/sun4i-a10-cubieboard.dtb" -semihosting)
    words+=" board=cubieboard console=ttyS0"
  elif [ "$core" = cortex-a15 ]; then
    describe_board "$flavour" "$core"
    machine+=(-dtb "$BUILT/linux-$flavour/board.dtb")
  fi
  timeout "${BOOT_SECONDS:-600}" "${machine[@]}" -cpu "$core" -m 512 "${COUNTED[@]}" -seed 1 \
    -rtc "base=2024-01-01T00:00:00,clock=vm" -nic none -nographic \
    -monitor none -no-reboot -kernel "$KERNELS/$flavour/boot/vmlinuz-$version" \
    -initrd "$BUILT/linux-$flavour/initrd.cpio" \
    -append "console=ttyAMA0 quiet panic=-1 $words" "$@" 2>&1 </dev/null | sed -u 's,\r,,'
}

core_of() { if [ "$1" = arm64 ]; then echo cortex-a72; else echo cortex-a15; fi; } # FLAVOUR

# Boots each flavour for the tables and prints them.
print_tables() { # REPEATS SLEEPS FLAVOUR...
  local words="hairspring=tables repeats=$1 sleeps=$2" flavour output runs=()
  shift 2
  for flavour in "$@"; do
    output="$BUILT/linux-$flavour/tables.txt"
    boot "$flavour" "$(core_of "$flavour")" "$words" >"$output"
    grep -qx 'end: 0 failures' "$output" || { tail -n 5 "$output" && return 1; }
    runs+=("$flavour=$output")
  done
  python3 "$RIG/report.py" "${runs[@]}"
}
