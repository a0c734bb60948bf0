# shellcheck shell=bash
# Debian's Python and numpy for ARM, run in an emulator on a machine of another architecture.
# Everything is below .cache/foreign-python. To be sourced after foreign.sh.

FOREIGN_PYTHON="$CACHE/foreign-python"

# The interpreter, what it cannot start without, its library, and numpy with one of the libraries
# that it may use.
python_packages() { # ARCHITECTURE
  local python
  python="$(foreign apt-cache depends "python3-minimal:$1" | sed -n 's/.*Depends: \(python3\.[0-9]*\)-minimal.*/\1/p')"
  [ -n "$python" ] || return
  foreign apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances \
    "$python-minimal:$1" | grep -Ex "(lib|zlib|python3\.)[^ ]*:$1" | sort -u
  printf "%s:$1\n" "lib$python-stdlib" python3-numpy libblas3 liblapack3 libgfortran5
}

need_foreign_python() { # ARCHITECTURE
  [ ! -e "$FOREIGN_PYTHON/$1/complete" ] || return 0
  alone unpack_python "$1" || missing "Debian's Python for $1" "a connection to a Debian mirror"
}

unpack_python() { # ARCHITECTURE
  local packages
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return
  update_foreign
  mapfile -t packages < <(python_packages "$1")
  [ "${#packages[@]}" -gt 5 ] ||
    { say "Debian's packages of Python for $1 are not among the lists" && return 1; }
  say "fetching Debian's Python for $1 (apt-get download)"
  rm -rf "${FOREIGN_PYTHON:?}/$1"
  unpack_foreign "$FOREIGN_PYTHON/$1" "${packages[@]}" && touch "$FOREIGN_PYTHON/$1/complete"
}

# Runs it with modules from a folder. The packages' own scripts, which would link numpy's libraries
# to where they are looked for, do not run.
foreign_python() { # ARCHITECTURE EMULATOR FOLDER ARGUMENT...
  local root="$FOREIGN_PYTHON/$1" emulator="$2" folder="$3" libraries
  shift 3
  libraries="$(dirname "$(find "$root" -name 'libblas.so.3' | head -n 1)"):$(dirname "$(find "$root" -name 'liblapack.so.3' | head -n 1)")"
  "$emulator" -L "$root" -E "LD_LIBRARY_PATH=$libraries" -E "PYTHONPATH=$folder" \
    -E PYTHONDONTWRITEBYTECODE=1 \
    "$(compgen -G "$root/usr/bin/python3.*[0-9]")" "$@"
}
