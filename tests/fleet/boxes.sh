# shellcheck shell=bash
# Boxes of a fleet on this machine: each is an sshd on loopback with keys of its own, in a folder
# that goes when the boxes stop. As root each box has a name of its own, as another machine has; an
# ordinary user's boxes have the name of this machine. To be sourced after setup.sh.

# sshd without a service: Debian starts and enables that of a package that is installed.
need_sshd() {
  [ -n "$(sshd_path)" ] || alone install_sshd
}

sshd_path() { PATH="$PATH:/usr/sbin:/sbin" command -v sshd || true; }

install_sshd() {
  local policy=/usr/sbin/policy-rc.d made='' status=0
  if [ ! -e "$policy" ] && can_use_apt; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null &&
      as_root chmod 755 "$policy" && made=yes
  fi
  install_missing openssh-server || status=$?
  [ -z "$made" ] || as_root rm -f "$policy"
  ! command -v systemctl >/dev/null || as_root systemctl --quiet disable ssh 2>/dev/null || true
  return "$status"
}

# Starts boxes. $BOXES is then a folder with `ssh_config`, in which they have these names.
start_boxes() { # NAME...
  local name
  BOXES="$(mktemp -d -t hairspring-boxes.XXXXXX)"
  declare -gA box_processes=()
  chmod 755 "$BOXES"
  ssh-keygen -q -t ed25519 -N '' -f "$BOXES/key"
  ssh-keygen -q -t ed25519 -N '' -f "$BOXES/host"
  for name in "$@"; do start_box "$name" || return; done
}

start_box() { # NAME
  local name="$1" port try
  mkdir -p "$BOXES/$name"
  # Another process may take a port between the choice and the start.
  for try in 1 2 3 4 5; do
    port="$(free_port)"
    box_config "$name" "$port"
    if listen "$name"; then name_box "$name" "$port" && return 0; fi
  done
  echo "sshd does not start ($try tries): $(tail -n 3 "$BOXES/$name/log")" && return 1
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

box_config() { # NAME PORT
  local pam=no
  # sshd refuses an account without a password, as root's may be, unless PAM decides.
  [ "$(id -u)" -ne 0 ] || { pam=yes && mkdir -p /run/sshd; }
  cat >"$BOXES/$1/config" <<CONFIG
ListenAddress 127.0.0.1
Port $2
HostKey $BOXES/host
AuthorizedKeysFile $BOXES/key.pub
PidFile $BOXES/$1/pid
StrictModes no
UsePAM $pam
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
CONFIG
}

# The process of a box is in a session of its own, so that Ctrl-C reaches it through stop_boxes.
listen() { # NAME
  local words=("$(sshd_path)" -D -e -f "$BOXES/$1/config") process
  if [ "$(id -u)" -eq 0 ]; then
    # shellcheck disable=SC2016 # the shell inside fills it in
    words=(unshare --uts sh -c 'hostname "$0" && exec "$@"' "$1" "${words[@]}")
  fi
  : >"$BOXES/$1/log"
  setsid "${words[@]}" >"$BOXES/$1/log" 2>&1 </dev/null &
  process=$!
  for _ in $(seq 100); do
    if grep -q 'Server listening' "$BOXES/$1/log"; then
      box_processes[$1]="$process"
      return 0
    fi
    kill -0 "$process" 2>/dev/null || return 1
    sleep 0.1
  done
  kill "$process"
  return 1
}

name_box() { # NAME PORT
  cat >>"$BOXES/ssh_config" <<CONFIG
Host $1
  HostName 127.0.0.1
  Port $2
  IdentityFile $BOXES/key
  IdentitiesOnly yes
  UserKnownHostsFile $BOXES/known_hosts
  StrictHostKeyChecking accept-new
  HostKeyAlias $1
  BatchMode yes
CONFIG
}

stop_box() { # NAME
  kill "${box_processes[$1]}" 2>/dev/null || return 0
  wait "${box_processes[$1]}" 2>/dev/null || true
  unset "box_processes[$1]"
}

# Ends the boxes and removes their folder.
stop_boxes() {
  local name
  [ -n "${BOXES:-}" ] || return 0
  for name in "${!box_processes[@]}"; do stop_box "$name"; done
  rm -rf "$BOXES"
}
