#!/usr/bin/env bash
# Several boxes (examples/fleet): GNU parallel and ReFrame measure on two sshd on loopback, each
# with a name of its own where this runs as root, and ReFrame on this machine, too; what they leave
# is merged. Boxes that do not answer, programs that fail, and references that are missed are told.
# HAIRSPRING=PATH uses a command that is already built. It takes 4 minutes behind the build.
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
  if found="$("$@")" && [ "$found" = "$expected" ]; then return 0; fi
  echo "$*: expected $expected, found $found" && return 1
}

SERIES='sorted({r["name"] for f in d["families"] for r in f["results"]})'
ALL="['copy/size:4096', 'copy/size:64', 'divide', 'multiply']"

measured_on_boxes() { # FOLDER OPTION...
  in_home "$MEASURE" --send "$WORK/benchmarks" --hairspring "$HAIRSPRING" "${@:2}" "$WORK/boxes" \
    "$1" run ./benchmarks --processes 1 --budget 50ms
}

the_same_on_all() {
  measured_on_boxes "$WORK/same" || return
  is 2 of_merged "$WORK/same/documents" 'd["documents"]["merged"]' &&
    is "$MACHINES" of_merged "$WORK/same/documents" 'd["machines"]' &&
    is "$ALL" of_merged "$WORK/same/documents" "$SERIES"
}

parts() {
  measured_on_boxes "$WORK/parts" --shard || return
  is 2 of_merged "$WORK/parts/documents" 'd["documents"]["merged"]' &&
    is "$ALL" of_merged "$WORK/parts/documents" "$SERIES" &&
    is "[]" of_merged "$WORK/parts/documents" \
      '[f for f in d["findings"] if f["kind"] == "series_missing"]'
}

# What a shell or parallel might read differently arrives as it is.
odd_arguments() {
  # shellcheck disable=SC2016 # nothing fills it in
  local odd='it'"'"'s $HOME `id` \ {} {#} {.}'
  in_home "$MEASURE" --hairspring "$HAIRSPRING" "$WORK/boxes" "$WORK/odd" time \
    "x = x * 3 /* $odd */" --let 'unsigned long x = 3' --budget 50ms || return
  is True of_merged "$WORK/odd/documents" "d['documents']['merged'] == 2" || return
  python3 - "$odd" "$WORK"/odd/documents/*/*.json <<'PYTHON'
import json, sys
for file in sys.argv[2:]:
    assert sys.argv[1] in json.load(open(file))["results"][0]["code"], file
PYTHON
}

small() { # BOXES FOLDER
  in_home "$MEASURE" --hairspring "$HAIRSPRING" "$1" "$2" \
    time 'x = x * 3' --let 'unsigned long x = 3' --budget 50ms
}

# A box that does not answer leaves the others. The same call, once it answers, runs only its job.
a_box_is_down() {
  local first
  stop_box box2
  says 1 "job 2: ssh -F $BOXES/ssh_config box2 does not answer" small "$WORK/boxes" "$WORK/down" ||
    return
  is 1 of_merged "$WORK/down/documents" 'd["documents"]["merged"]' || return
  first="$(ls "$WORK/down/documents/job-1")"
  listen box2 || return
  says 2 "name another folder" small <(grep box1 "$WORK/boxes") "$WORK/down" || return
  small "$WORK/boxes" "$WORK/down" || return
  is 2 of_merged "$WORK/down/documents" 'd["documents"]["merged"]' &&
    is "$first" ls "$WORK/down/documents/job-1"
}

wrong_calls() {
  says 2 "there is no such file" "$MEASURE" --send "$WORK/none" a b c &&
    says 2 "there is no option --nonsense" "$MEASURE" --nonsense a b c &&
    says 2 "name a list of boxes" "$MEASURE" a b &&
    says 2 "names no box" "$MEASURE" /dev/null "$WORK/none" run
}

nothing_is_left_on_a_box() {
  ! compgen -G "$(getent passwd "$(id -u)" | cut -d : -f 6)/hairspring-[0-9]*-*"
}

step "parallel: all boxes measure the same" the_same_on_all
step "parallel: disjoint parts" parts
step "parallel: odd arguments" odd_arguments
step "parallel: a box is down" a_box_is_down
step "parallel: wrong calls" wrong_calls
step "parallel: nothing is left on a box" nothing_is_left_on_a_box

# ---- ReFrame -------------------------------------------------------------------------------------

CHECKS="$WORK/reframe"
mkdir -p "$CHECKS/programs"
cp examples/fleet/reframe/*.py "$CHECKS"
cp "$WORK/benchmarks" "$CHECKS/programs"

# ReFrame with the example's configuration. What it keeps lies in the folder of the checks.
reframe() { # PARTITION CHECKS OPTION...
  (
    cd "$CHECKS"
    HOME="$WORK/home" TMPDIR="$WORK" FLEET_BOXES="box1 box2" FLEET_SSH="-F $BOXES/ssh_config" \
      timeout 300 "$VENV/bin/reframe" --nocolor -C settings.py -c "$2" --system "fleet:$1" \
      --prefix "$CHECKS/$1" --report-file "$CHECKS/report.json" "${@:3}" -r \
      >"$CHECKS/said.txt" 2>&1
  ) || { tail -n 40 "$CHECKS/said.txt" && return 1; }
}

# The value of an expression in which v has the performance variables of all tests that ran, by
# test and name: value, reference, lower, upper, unit.
of_report() { # EXPRESSION
  python3 - "$CHECKS/report.json" "$1" <<'PYTHON'
import json, sys
v = {}
for run in json.load(open(sys.argv[1]))["runs"]:
    for case in run["testcases"]:
        for key, found in case["perfvalues"].items():
            v.setdefault(case["name"].split()[0], {})[key.split(":")[-1]] = found
print(eval(sys.argv[2]))
PYTHON
}

# Two documents may be made while something else uses the machine: this is about ReFrame.
on_this_machine() {
  reframe here checks.py -S allow_untrusted=1 --max-retries 3 || return
  is "True" of_report '[v["Multiply"][n][4] for n in ("code", "code_low", "code_high")] == 3 * ["cycles"]' &&
    is "True" of_report '2.9 < v["Multiply"]["code_low"][0] <= v["Multiply"]["code_high"][0] < 3.1' &&
    is "True" of_report '{"multiply", "copy_size_64_low", "divide_high"} < set(v["Program"])' &&
    is "2" of_merged "$CHECKS/here/output" 'd["documents"]["merged"]'
}

on_boxes() {
  reframe boxes checks.py -S allow_untrusted=1 --max-retries 3 --distribute=all || return
  is "4" of_merged "$CHECKS/boxes/output" 'd["documents"]["merged"]' &&
    is "$MACHINES" of_merged "$CHECKS/boxes/output" 'd["machines"]' &&
    is "True" of_merged "$CHECKS/boxes/output" "'code' in $SERIES and 'multiply' in $SERIES"
}

family() {
  "$HAIRSPRING" time 'x = x * 3' --let 'unsigned long x = 3' --budget 50ms --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["environment"]["cpu"]["family"])'
}

# A check with these lines in its class.
write_check() { # FILE LINE...
  {
    printf 'import reframe as rfm\nfrom hairspring_reframe import HairspringTest\n\n\n'
    printf '@rfm.simple_test\nclass Check(HairspringTest):\n'
    printf '    valid_systems = ["*"]\n    valid_prog_environs = ["*"]\n'
    printf '    arguments = ["time", "x = x * c", "--let", "long x = 3", "--let", "long c = 5"]\n'
    printf '    allow_untrusted = True\n'
    printf '    %s\n' "${@:2}"
  } >"$CHECKS/$1"
}

missed() { # TEXT LINE...
  write_check missed.py "${@:2}"
  says 1 "$1" reframe here missed.py
}

references() {
  local family
  family="$(family)"
  # That of the partition counts, not the ones of the family everywhere.
  write_check met.py "references = {'$family': {'code': (9, -0.1, 0.1)}," \
    "    'fleet:here:$family': {'code': (3, -0.1, 0.1)}}"
  reframe here met.py || return
  is "['[3, None, 0.1]', '[3, -0.1, None]']" of_report \
    '[*map(str, (v["Check"][n][1:4] for n in ("code_low", "code_high")))]' &&
    missed "failed to meet reference(s)" "references = {'$family': {'code': (2, -0.1, 0.1)}}" &&
    grep -q "code_low=[0-9.]* cycles, expected 2" "$CHECKS/said.txt" &&
    missed "code_high=" "references = {'fleet:$family': {'code': (4, -0.1, 0.1)}}" &&
    missed "no reference value found" "require_reference = True" "references = {'0-0': {}}"
}

# A verb that leaves no document of its own accord.
other_verbs() {
  cp spec/vectors/line.csv "$CHECKS/programs"
  write_check fit.py "sourcesdir = 'programs'" "arguments = ['fit', 'line.csv']"
  reframe here fit.py || return
  is "[3, 'ns']" of_report '[len(v["Check"]), *{found[4] for found in v["Check"].values()}]' &&
    is "['_low', '', '_high']" of_report \
      '[n[n.find("_"):] if "_" in n else "" for n in sorted(v["Check"], key=lambda n: v["Check"][n])]'
}

failures() {
  missed "0 documents instead of one" "arguments = ['time', 'nonsense']" &&
    missed "which has no series of times" "arguments = ['doctor']" &&
    missed "0 documents instead of one" "hairspring = '/nowhere/hairspring'"
}

step "ReFrame: on this machine" on_this_machine
step "ReFrame: on boxes, over ssh" on_boxes
step "ReFrame: references by family and partition" references
step "ReFrame: other verbs" other_verbs
step "ReFrame: what fails is told" failures
exit "$status"
