# shellcheck shell=bash
# The C library as its users have it: built, installed into a folder, found by pkg-config. To be
# sourced after setup.sh.

# Builds the library and installs it with its headers. Exports what pkg-config needs.
install_library() { # FOLDER
  export PKG_CONFIG_PATH="$1/installed/lib/pkgconfig"
  quietly cmake -S "$ROOT/crates/hairspring-capi" -B "$1/cmake" -DCMAKE_INSTALL_LIBDIR=lib \
    -DHAIRSPRING_TARGET_DIR="$CARGO_TARGET_DIR" &&
    quietly cmake --build "$1/cmake" && quietly cmake --install "$1/cmake" --prefix "$1/installed"
}

# The flags for the linker, one word a line; `static` uses only the archive.
library_flags() { # FOLDER shared|static
  if [ "$2" = shared ]; then
    pkg-config --libs hairspring
  else
    pkg-config --libs --static hairspring | sed "s#-lhairspring#$1/installed/lib/libhairspring.a#"
  fi
}
