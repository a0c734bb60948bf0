#!/usr/bin/env bash
# Several boxes (examples/fleet): GNU parallel and ReFrame measure on two sshd on loopback, each
# with a name of its own where this runs as root, and ReFrame on this machine, too; what they leave
# is merged. Boxes that do not answer, programs that fail, and references that are missed are told.
# HAIRSPRING=PATH uses a command that is already built. Minutes: 6, half of them for the build.
# Tier: release
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
. "$ROOT/tests/fleet/boxes.sh"
cd "$ROOT"
status=0
VENV="$CACHE/fleet"
MEASURE="$ROOT/examples/fleet/parallel/measure.sh"

need_binary() {
  [ -z "${HAIRSPRING:-}" ] || return 0
  need_rust || return
  cargo build --package hairspring-cli
  HAIRSPRING="$CARGO_TARGET_DIR/debug/hairspring"
}

need_command ssh openssh-client
need_apt parallel rsync
need_command cc gcc libc6-dev
need_sshd
need_venv "$VENV" tools/fleet-requirements.txt
need_binary
export HAIRSPRING

WORK="$(mktemp -d -t hairspring-fleet.XXXXXX)"
# Ctrl-C and the end of the group come here, too. What GNU parallel and ReFrame keep in a home is
# kept here.
trap 'stop_boxes; rm -rf "$WORK"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$WORK/home"
start_boxes box1 box2

# Machines that can be told apart: boxes of root have names of their own.
MACHINES=1
[ "$(id -u)" -ne 0 ] || MACHINES=2

cc -O2 -Iprobe examples/c/multiply.c -o "$WORK/benchmarks"
cat >"$WORK/boxes" <<LIST
# two boxes
ssh -F $BOXES/ssh_config box1
1/ssh -F $BOXES/ssh_config box2
LIST

# ---- GNU parallel --------------------------------------------------------------------------------

in_home() { HOME="$WORK/home" "$@"; }

# The value of a Python expression in which d is the merged document of a folder.
of_merged() { # FOLDER EXPRESSION
  "$HAIRSPRING" merge "$1" --json >"$WORK/merged.json" &&
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
      "$WORK/merged.json" "$2"
}

is() { # EXPECTED COMMAND...
  local expected="$1" found
  shift
  found="$("$@")" && [ "$found" = "$expected" ] ||
    { echo "$*: expected $expected, found $found" && return 1; }
}

SERIES='sorted({r["name"] for f in d["families"] for r in f["results"]})'
ALL="['copy/size:4096', 'copy/size:64', 'divide', 'multiply']"

measured_on_boxes() { # FOLDER OPTION...
  in_home "$MEASURE" --send "$WORK/benchmarks" --hairspring "$HAIRSPRING" "${@:2}" "$WORK/boxes" \
    "$1" run ./benchmarks --processes 1 --budget 50ms
}

the_same_on_all() {
  measured_on_boxes "$WORK/same" || return
  is 2 of_merged "$WORK/same/documents" 'd["files"]["merged"]' &&
    is "$MACHINES" of_merged "$WORK/same/documents" 'd["machines"]' &&
    is "$ALL" of_merged "$WORK/same/documents" "$SERIES"
}

parts() {
  measured_on_boxes "$WORK/parts" --shard || return
  is 2 of_merged "$WORK/parts/documents" 'd["files"]["merged"]' &&
    is "$ALL" of_merged "$WORK/parts/documents" "$SERIES" &&
    is "[]" of_merged "$WORK/parts/documents" \
      '[f for f in d["findings"] if f["kind"] == "series_missing"]'
}

# What a shell or parallel might read differently arrives as it is.
odd_arguments() {
  in_home "$MEASURE" --hairspring "$HAIRSPRING" "$WORK/boxes" "$WORK/odd" time \
    "x = '\\'' + x * 3; /* {} {#} \"\$HOME\" \`id\`" --let "unsigned long x = 3 */ + 0" \
    --budget 50ms >"$WORK/odd.txt" 2>&1 && return 1
  grep -q "does not compile\|error" "$WORK/odd.txt" || return
  in_home "$MEASURE" --hairspring "$HAIRSPRING" "$WORK/boxes" "$WORK/even" time \
    "x = x * '{' + '{}'[0] /* \$HOME {#} {.} */" --let "unsigned long x = 3" --budget 50ms || return
  grep -rqF '{}'"'"'[0] /* $HOME {#} {.} */' "$WORK/even/documents"
}

# A box that does not answer leaves the others; the same call, once it answers, runs only that job.
a_box_is_down() {
  local before="$WORK/down/documents/job-1"
  sed 's/config box2/config -p 1 box2/' "$WORK/boxes" >"$WORK/boxes.down"
  says 1 "job 2 on" in_home "$MEASURE" --hairspring "$HAIRSPRING" "$WORK/boxes.down" "$WORK/down" \
    time 'x = x * 3' --let 'unsigned long x = 3' --budget 50ms || return
  is 1 of_merged "$WORK/down/documents" 'd["files"]["merged"]' || return
  before="$(ls "$WORK/down/documents/job-1")"
  # The login is the same; now something listens there.
  sed -i "s/^  Port .*/&/" "$BOXES/ssh_config"
  says 2 "name another folder" in_home "$MEASURE" --hairspring "$HAIRSPRING" "$WORK/boxes" \
    "$WORK/down" time 'x = x * 3' --let 'unsigned long x = 3' --budget 50ms || return
  [ "$before" = "$(ls "$WORK/down/documents/job-1")" ]
}

wrong_calls() {
  says 2 "there is no such file" "$MEASURE" --send "$WORK/none" a b c &&
    says 2 "there is no option --nonsense" "$MEASURE" --nonsense a b c &&
    says 2 "name a list of boxes" "$MEASURE" a b &&
    says 2 "names no box" "$MEASURE" /dev/null "$WORK/none" run
}

nothing_is_left_on_a_box() {
  ! compgen -G "$HOME/hairspring-[0-9]*-*"
}

step "parallel: all boxes measure the same" the_same_on_all
step "parallel: disjoint parts" parts
step "parallel: odd arguments" odd_arguments
step "parallel: a box is down" a_box_is_down
step "parallel: wrong calls" wrong_calls
step "parallel: nothing is left on a box" nothing_is_left_on_a_box
exit "$status"
