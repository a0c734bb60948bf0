#!/usr/bin/env bash
# The exchange of `hairspring period` between two network namespaces that a veth pair joins: a
# network that loses nothing, one that loses and duplicates frames (netem, if the kernel has it),
# and partners that are stopped, are killed, or misbehave. It needs root.
# Tier: all
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"

ADDRESS=10.213.47.2
WORK="$(mktemp -d "$CACHE/period.XXXXXX")"
PARTNER_PID=''
MASTER='' PARTNER='' # processes that each only keep a network namespace
status=0

# shellcheck disable=SC2317 # called by the trap
clean_up() {
  local process
  for process in $PARTNER_PID $MASTER $PARTNER; do kill -KILL "$process" 2>/dev/null || true; done
  rm -rf "$WORK"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# Starts a process with a new network namespace, which ends with this script. `ip netns` would mount
# a file for each namespace and a /sys for each command, which is refused in a chroot and in many
# containers.
start_namespace() { # VARIABLE
  setpriv --pdeathsig KILL unshare --net sleep infinity &
  printf -v "$1" '%s' "$!"
  disown # so that its end is not reported
}

# Waits until the namespace is there.
namespace_made() { # PROCESS
  local tries
  for tries in $(seq 100); do
    if ! kill -0 "$1" 2>/dev/null; then return 1; fi
    if [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]; then return; fi
    sleep 0.1
  done
  echo "no network namespace after $tries tries" >&2
  return 1
}

# Runs a command in the namespace of that process. It replaces nsenter, so that signals reach it.
inside() { # PROCESS COMMAND...
  exec nsenter --net="/proc/$1/ns/net" -- "${@:2}"
}

in_master() { (inside "$MASTER" "$@"); }
in_partner() { (inside "$PARTNER" "$@"); }

make_namespaces() {
  start_namespace MASTER
  start_namespace PARTNER
  namespace_made "$MASTER" && namespace_made "$PARTNER" &&
    in_master ip link add veth0 type veth peer name veth0 netns "$PARTNER" &&
    in_master ip address add 10.213.47.1/24 dev veth0 &&
    in_partner ip address add "$ADDRESS/24" dev veth0 &&
    in_master ip link set veth0 up &&
    in_partner ip link set veth0 up
}

start_partner() { # COMMAND...
  rm -f "$WORK/partner.log"
  inside "$PARTNER" "$@" >"$WORK/partner.json" 2>"$WORK/partner.log" &
  PARTNER_PID=$!
  local tries
  for tries in $(seq 100); do
    if grep -qs answering "$WORK/partner.log"; then return; fi
    sleep 0.1
  done
  echo "the partner did not start after $tries tries:" && cat "$WORK/partner.log" && return 1
}

stop_partner() {
  kill -TERM "$PARTNER_PID"
  wait "$PARTNER_PID"
  PARTNER_PID=''
}

# Runs the task for a number of cycles of 2 ms; its document goes to a file with this name.
exchange() { # NAME CYCLES
  in_master "$HAIRSPRING" period 2ms --cycles "$2" --exchange "$ADDRESS" --json >"$WORK/$1.json"
}

check() { # NAME WHAT EXPRESSION
  if jq -e "$3" "$WORK/$1.json" >/dev/null; then
    echo "ok: $1: $2"
  else
    echo "FAILED: $1: $2: $3" && jq '.exchange // .' "$WORK/$1.json" | head -n 40
    status=1
  fi
}

# Properties of every exchange on any network.
check_sums() { # NAME
  check "$1" "every cycle that ran sent a frame" '.exchange.sent + .exchange.not_sent == .cycles'
  check "$1" "every frame is in time, late or lost" '.exchange | .sent == .in_time + .late + .lost'
  check "$1" "every answer has a round trip" '.exchange | .round_trip.count == .in_time + .late'
}

whole_network() {
  exchange whole 500
  check_sums whole
  check whole "none is lost" '.exchange.lost == 0'
  check whole "no frame was ignored" \
    '.exchange.ignored | .duplicates + .stale + .foreign + .short == 0'
  check whole "round trips are positive" '.exchange.round_trip.least_ns > 0'
}

lossy_network() {
  if ! in_master tc qdisc add dev veth0 root netem loss 20% 2>"$WORK/netem.log"; then
    tail -n 1 "$WORK/netem.log"
    echo "nothing: no netem here, so no lossy network"
    return
  fi
  exchange lossy 500
  in_master tc qdisc del dev veth0 root
  check_sums lossy
  # 500 frames of which a fifth is lost: outside of these lies less than one run in a billion.
  check lossy "a fifth is lost" '.exchange.lost >= 45 and .exchange.lost <= 165'
  check lossy "a finding says so" '[.findings[].kind] | index("answers_missing") != null'
}

# Answers that wait in the stopped partner's queue come late; what its queue does not hold is lost.
stopped_partner() {
  exchange stopped 1000 &
  local task=$!
  sleep 1
  kill -STOP "$PARTNER_PID"
  sleep 0.3
  kill -CONT "$PARTNER_PID"
  wait "$task"
  check_sums stopped
  check stopped "about 150 are late or lost" '.exchange | .late + .lost >= 75'
  check stopped "most are in time" '.exchange | .in_time >= .sent / 4'
  check stopped "the longest round trip is about as long as the stop" \
    '.exchange.round_trip.most_ns > 150e6 or .exchange.lost > 0'
}

duplicating_network() {
  if ! in_master tc qdisc add dev veth0 root netem duplicate 100% 2>/dev/null; then return; fi
  exchange twice 100
  in_master tc qdisc del dev veth0 root
  check_sums twice
  check twice "second answers are counted and ignored" \
    '.exchange | .ignored.duplicates > 0 and .lost == 0'
}

# It is gone for good: what is sent then is refused or lost, and the task keeps its period.
killed_partner() {
  exchange killed 1000 &
  local task=$!
  sleep 1
  kill -KILL "$PARTNER_PID"
  wait "$PARTNER_PID" 2>/dev/null || true
  PARTNER_PID=''
  wait "$task"
  check_sums killed
  check killed "what nobody answers is lost or not sent" '.exchange | .lost + .not_sent >= 50'
  check killed "it ran to its end" '.run.stop == "done" and .cycles + .missed == 1000'
}

# A second implementation of the frame knows exactly what it did.
misbehaving_partner() {
  start_partner python3 tests/period_partner.py "$ADDRESS" 47110
  exchange misbehaving 500
  stop_partner
  check_sums misbehaving
  jq --slurpfile partner "$WORK/partner.json" '.partner = $partner[0]' "$WORK/misbehaving.json" \
    >"$WORK/both.json"
  check both "it was asked in every cycle" \
    '.partner.asked == .exchange.sent and .partner.asked > 250'
  check both "what it dropped is lost" '.exchange.lost == .partner.dropped and .partner.dropped > 0'
  check both "what it doubled is ignored" \
    '.exchange.ignored.duplicates == .partner.doubled and .partner.doubled > 0'
  check both "short frames are ignored" \
    '.exchange.ignored.short == .partner.disturbed and .partner.disturbed > 0'
  check both "foreign frames and questions are ignored" \
    '.exchange.ignored.foreign == 2 * .partner.disturbed'
}

check_partner() {
  stop_partner
  check partner "it answered all that it was asked" \
    '.answered > 1000 and .foreign + .short + .not_sent == 0'
}

need_rust
need_command ip iproute2
need_command nsenter util-linux
need_command jq jq
need_command python3 python3
cargo build --release -p hairspring-cli
HAIRSPRING="$CARGO_TARGET_DIR/release/hairspring"
if ! make_namespaces 2>"$WORK/netns.log"; then
  echo "missing: network namespaces and a veth pair ($(tail -n 1 "$WORK/netns.log")): run as root with CAP_SYS_ADMIN and CAP_NET_ADMIN"
  exit "$MISSING"
fi
start_partner "$HAIRSPRING" period --respond "$ADDRESS" --json
whole_network
lossy_network
duplicating_network
stopped_partner
check_partner
misbehaving_partner
start_partner "$HAIRSPRING" period --respond "$ADDRESS" --json
killed_partner
exit "$status"
