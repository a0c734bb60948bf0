# shellcheck shell=bash
# Debian's packages for ARM on a machine of another architecture: apt with lists and a cache of its
# own, for the processor of this machine and both of ARM, so the system does not become multi-arch.
# Everything is below .cache/foreign. To be sourced after setup.sh.

FOREIGN="$CACHE/foreign"

foreign() { # COMMAND ARGUMENT...
  APT_CONFIG="$FOREIGN/apt.conf" "$@"
}

write_foreign_configuration() {
  mkdir -p "$FOREIGN"/{state,lists/partial,cache/archives/partial}
  touch "$FOREIGN/status"
  cat >"$FOREIGN/apt.conf" <<CONF
Dir::State "$FOREIGN/state";
Dir::State::Lists "$FOREIGN/lists";
Dir::State::status "$FOREIGN/status";
Dir::Cache "$FOREIGN/cache";
APT::Architecture "$(dpkg --print-architecture)";
APT::Architectures { "$(dpkg --print-architecture)"; "arm64"; "armhf"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
CONF
}

# Fetches the lists, once a day.
update_foreign() {
  write_foreign_configuration # the checkout may have moved
  [ -z "$(find "$FOREIGN/updated" -mmin -1440 2>/dev/null)" ] || return 0
  say "fetching the package lists for ARM into .cache/foreign (apt-get update)"
  quietly foreign apt-get update -q ||
    say "apt-get update reported errors; continuing with the lists that it has"
  touch "$FOREIGN/updated"
}

# Downloads packages and unpacks them into a folder.
unpack_foreign() { # FOLDER PACKAGE...
  local folder="$1" packages="$1.packages" package
  shift
  rm -rf "$packages" && mkdir -p "$folder" "$packages"
  (cd "$packages" && quietly foreign apt-get download "$@") || return
  for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$folder" || return; done
  rm -rf "$packages"
}
