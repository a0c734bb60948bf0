#!/usr/bin/env bash
# Tries the project on a bare machine: makes a minimal Debian root in a temporary folder, clones the
# last commit of the project into it, and runs its commands there.
#
#   sudo tools/fresh-root.sh [run|test|both] [GROUP...] [OPTION...]
#
#   GROUP      test groups for ./test, or a tier of them (default: all)
#   --nice N   runs the commands at this nice value, from 1 to 19, as on a busy machine
#   --cpu N    runs the commands on this CPU only, as on a machine that has only one
#   --suite    the release (default: bookworm, Debian 12)
#   --mirror   the source of its packages (default: the apt sources of this machine for that
#              release). It is needed for a release of another distribution (jammy, noble).
#   --keep     keeps the root, and prints its path
#   --root FOLDER
#              uses the root that an earlier trial left there, and its build, with the last commit
#              of the project; the folder is kept. It is for trials in pieces, and for installing
#              more by hand: only a new root shows what is missing.
#
#   sudo tools/fresh-root.sh                           the whole trial
#   sudo tools/fresh-root.sh both --nice 19 --cpu 0    the same on a slow machine, which takes an
#                                                      hour and more
#   sudo tools/fresh-root.sh run --keep                a root, and then group by group in it:
#   sudo tools/fresh-root.sh test probe cpp --root /tmp/hairspring-root.Ab12Cd
#
# The root gets this machine's configuration of the network: name servers, certificates, and the
# configuration of apt, pip and cargo. Credentials are not copied.
#
# Exit status: 0, or that of the last command that failed inside. A group that is missing something
# fails the trial too (./test ends with 2): inside, apt works and everything is allowed, so
# something missing means that the project lacks a step, or that the kernel is unsuitable for the
# trial.
#
# All mounts are made in a separate mount namespace, so they always disappear with its last process;
# the folder is deleted from outside, where they were never visible.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
. "$(dirname "${BASH_SOURCE[0]}")/bare-root.sh"

what=both suite=bookworm mirror='' keep='' nice='' cpu='' root='' groups=()
GUEST_PROJECT=/srv/hairspring

read_arguments() {
  while [ "$#" -gt 0 ]; do
    case "$1" in
      run | test | both) what="$1" ;;
      --suite) suite="${2:?--suite needs a name}" && shift ;;
      --mirror) mirror="${2:?--mirror needs an address}" && shift ;;
      --nice) nice="${2:?--nice needs a number}" && shift ;;
      --cpu) cpu="${2:?--cpu needs a number}" && shift ;;
      --root) root="${2:?--root needs a folder}" && keep=yes && shift ;;
      --keep) keep=yes ;;
      -h | --help) show_header && exit 0 ;;
      -*) die "unknown option '$1'; see $0 --help" ;;
      *) groups+=("$1") ;;
    esac
    shift
  done
  check_arguments
}

check_arguments() {
  local group
  [[ -z "$nice" || $nice =~ ^[0-9]+$ && $nice -ge 1 && $nice -le 19 ]] ||
    die "--nice $nice is not a whole number from 1 to 19"
  [ -z "$cpu" ] || taskset --cpu-list "$cpu" true 2>/dev/null ||
    die "--cpu $cpu is not a CPU that this machine has"
  [ -z "$root" ] || [ -d "$root$GUEST_PROJECT" ] ||
    die "--root $root has no $GUEST_PROJECT; make one with --keep"
  [ "$what" != run ] || [ "${#groups[@]}" -eq 0 ] ||
    die "./run has no groups; name them with test or both"
  for group in "${groups[@]}"; do
    case "$group" in patch | all) continue ;; esac
    compgen -G "$ROOT/tests/groups/*$group*.sh" >/dev/null ||
      die "no command and no test group named '$group'; see ./test --list"
  done
}

clone_project() { # FOLDER
  if [ -n "$root" ]; then
    git -c safe.directory='*' -C "$1$GUEST_PROJECT" fetch --quiet "$ROOT" HEAD
    git -c safe.directory='*' -C "$1$GUEST_PROJECT" reset --quiet --hard FETCH_HEAD
  else
    git -c safe.directory='*' clone --quiet --no-hardlinks "$ROOT" "$1$GUEST_PROJECT"
  fi
  [ -z "$(git -C "$ROOT" status --porcelain 2>/dev/null)" ] ||
    say "note: uncommitted changes are not part of this trial"
}

run_inside() { # FOLDER COMMAND...
  local folder="$1" start=$SECONDS status=0 variables=() placed=()
  shift
  mapfile -t variables < <(network_variables)
  [ -z "$cpu" ] || placed+=(taskset --cpu-list "$cpu")
  [ -z "$nice" ] || placed+=(nice -n "$nice")
  say "running $* in the fresh root"
  unshare --mount --propagation private "${placed[@]}" bash -c "$ENTER" enter "$folder" \
    "$GUEST_PROJECT" \
    /usr/bin/env -i "${GUEST_ENVIRONMENT[@]}" CI=true "${variables[@]}" "$@" </dev/null || status=$?
  say "$* ended with status $status after $((SECONDS - start)) s"
  return "$status"
}

# The part inside the namespaces.
try_project() { # FOLDER
  local status=0
  [ -n "$root" ] || make_root "$1"
  take_over_network "$1"
  clone_project "$1"
  mount_all "$1"
  if [ "$what" != test ]; then run_inside "$1" ./run || status=$?; fi
  if [ "$what" != run ]; then run_inside "$1" ./test "${groups[@]:-all}" || status=$?; fi
  return "$status"
}

# Ends all processes in the namespaces, then deletes the root.
clean_up() { # FOLDER PID
  if kill -KILL "$2" 2>/dev/null; then wait "$2" || true; fi
  if [ -n "$keep" ]; then
    say "the root stays in $1"
  else
    rm -rf --one-file-system "$1"
  fi
}

main() {
  local folder inner
  read_arguments "$@"
  [ "$(id -u)" -eq 0 ] || die "making a root needs root: sudo $0 $*"
  if [ -n "${HAIRSPRING_ROOT_FOLDER:-}" ]; then
    try_project "$HAIRSPRING_ROOT_FOLDER"
    return
  fi
  need_command debootstrap debootstrap
  folder="${root:-$(mktemp -d -t hairspring-root.XXXXXX)}"
  chmod 755 "$folder" # apt runs as a separate user there, who must be able to enter /
  HAIRSPRING_ROOT_FOLDER="$folder" unshare --mount --propagation private --pid --fork --kill-child \
    --mount-proc "$0" "$@" &
  inner=$!
  # shellcheck disable=SC2064 # the folder and the process of now
  trap "clean_up '$folder' $inner" EXIT
  trap 'exit 130' INT TERM HUP
  wait "$inner"
}

main "$@"
