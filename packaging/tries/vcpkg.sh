#!/usr/bin/env bash
# The vcpkg port, as far as it can be shown without vcpkg, which no registry has: its manifest is
# valid, the port names only files that lie beside it, and CMake installs the headers as the port
# does.
# Needs: cmake make python3
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

manifest() {
  python3 - "$PORT" <<'PYTHON'
import json, re, sys
from pathlib import Path

port = Path(sys.argv[1])
manifest = json.loads((port / "vcpkg.json").read_text())
header = re.search(r'#define HAIRSPRING_VERSION "(.*)"', (port / "headers/hairspring.h").read_text())[1]
assert manifest["version"] == header, (manifest["version"], header)
assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]), manifest["name"]
names = {one if isinstance(one, str) else one["name"] for one in manifest["dependencies"]}
text = (port / "portfile.cmake").read_text()
calls = {"vcpkg_cmake_configure": "vcpkg-cmake", "vcpkg_cmake_install": "vcpkg-cmake", "vcpkg_cmake_config_fixup": "vcpkg-cmake-config"}
for call, dependency in calls.items():
    assert call not in text or dependency in names, f"{call} needs {dependency}"
for name in re.findall(r"\$\{(?:CMAKE_CURRENT_LIST_DIR|SOURCE_PATH)\}/([\w.-]+)", text):
    assert (port / name).exists() or (port / "headers" / name).exists(), name
assert "vcpkg_install_copyright" in text and "usage" in text
print("the manifest and the port agree with the headers")
PYTHON
}

# What vcpkg_cmake_configure, _install and _config_fixup do with a project.
install() {
  local path
  cmake -S "$PORT/headers" -B "$WORK/build" -DCMAKE_INSTALL_PREFIX="$WORK/packages" >/dev/null &&
    cmake --install "$WORK/build" >/dev/null
  path="$(sed -n 's/.*CONFIG_PATH \([^)]*\)).*/\1/p' "$PORT/portfile.cmake")"
  [ -f "$WORK/packages/$path/hairspring-config.cmake" ] ||
    fail "the port's CONFIG_PATH $path has no hairspring-config.cmake"
  gcc -O2 -I"$WORK/packages/include" "$WORK/c/multiply.c" -o "$WORK/c/multiply"
  prints_readings "$WORK/c/multiply"
}

try() {
  no_network
  tar -xzf "$(file_of 'hairspring-vcpkg-*.tar.gz')" -C "$WORK"
  PORT="$(echo "$WORK"/hairspring-vcpkg-*/hairspring)"
  write_program "$WORK/c"
  manifest
  timed install
}

"$1"
