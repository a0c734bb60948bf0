# shellcheck shell=bash disable=SC2034,SC2154 # the sourcing script sets and uses variables
# Bare roots: a minimal Debian in a folder, with this machine's configuration of the network, as the
# root of all files of a command. To be sourced after setup.sh by a script that sets `suite` (a
# release) and `mirror` (empty: this machine's own sources).

GUEST_HOME=/root
# The environment of a command in a root, to which the variables for the network are added.
GUEST_ENVIRONMENT=(HOME="$GUEST_HOME" LANG=C.UTF-8 \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)

die() { say "$*" && exit 2; }

# Lines of a sources.list for the release with its updates: from this machine's own sources, or from
# the given mirror.
guest_sources() {
  if [ -n "$mirror" ]; then
    printf 'deb %s %s main universe\n' "$mirror" "$suite" "$mirror" "$suite-updates"
  else
    # shellcheck disable=SC2016 # apt-get fills these in
    apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
      awk -v suite="$suite" '$1 == "Packages" && $3 ~ "^" suite "(-updates|-security)?$" { print "deb", $2, $3, $4 }' | sort -u
  fi
}

make_root() { # FOLDER [PACKAGES]: debootstrap's minimal system and these packages
  local source="$mirror" script=()
  [ -n "$source" ] || source="$(guest_sources | awk -v suite="$suite" '$3 == suite { print $2; exit }')"
  [ -n "$source" ] || die "this machine's apt sources have no release '$suite'; name a mirror with --mirror"
  say "making a minimal $suite root in $1 (debootstrap)"
  mkdir -p "$CACHE/debootstrap/$suite"
  # A debootstrap that is older than an Ubuntu release does not know its name; all of them are made
  # like gutsy.
  if [[ $source == *ubuntu* && ! -e /usr/share/debootstrap/scripts/$suite ]]; then \
      script=(gutsy); fi
  quietly debootstrap --variant=minbase --include="${2:-git,ca-certificates}" \
    --cache-dir="$CACHE/debootstrap/$suite" \
    "$suite" "$1" "$source" "${script[@]}" || return
  guest_sources >"$1/etc/apt/sources.list"
}

# Copies a file to the same place in the root, if this machine has it.
take_over() { # FOLDER PATH
  [ -e "$2" ] || return 0
  mkdir -p "$1$(dirname "$2")"
  cp -L "$2" "$1$2"
}

take_over_network() { # FOLDER
  local root="$1" file
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    take_over "$root" "$file"
  done
  for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    if grep -qsE '(Proxy|CaInfo|Verify-Peer|Verify-Host|Check-Date|Check-Valid-Until)' \
        "$file"; then take_over "$root" "$file"; fi
  done
  for file in .cargo/config.toml .config/pip/pip.conf .pip/pip.conf; do
    [ -e "${HOME:-}/$file" ] || continue
    mkdir -p "$root$GUEST_HOME/$(dirname "$file")"
    cp -L "${HOME:-}/$file" "$root$GUEST_HOME/$file"
  done
}

# The environment variables for access to the network, as NAME=VALUE.
network_variables() {
  env | grep -E '^((https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY|PIP_[A-Z_]+|CARGO_(HTTP|NET|REGISTRIES|SOURCE)_[A-Z_]+|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE|GIT_SSL_CAINFO|RUSTUP_(DIST_SERVER|UPDATE_ROOT))=' |
    grep -vE '^([A-Z_]*(TOKEN|PASSWORD|SECRET|CREDENTIAL)[A-Z_]*|PIP_(CACHE_DIR|FIND_LINKS))=' ||
    true
}

# Makes a folder with its mounts the root of all files, and runs a command there. A chroot is not
# enough: for its processes the root is not a mount point, so that neither `ip netns` nor a user
# namespace works.
# shellcheck disable=SC2016 # the shell inside fills them in
ENTER='cd "$1" && pivot_root . mnt && umount --lazy /mnt && cd "$2" && shift 2 && exec "$@"'

# Mounts that a root needs in addition to its files. It must be a mount point to become the root of
# all files.
mount_all() { # FOLDER
  mount --bind "$1" "$1"
  mount -t proc proc "$1/proc"
  mount -t sysfs -o ro sysfs "$1/sys"
  mount --rbind /dev "$1/dev"
}
