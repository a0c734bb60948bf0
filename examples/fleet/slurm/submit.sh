#!/bin/bash
# Submits a fleet to Slurm: one job a task, and a job that merges the documents of all.
#
#   submit.sh RESULTS --nodes LIST [OPTION...] -- hairspring VERB ARGUMENT...
#   submit.sh RESULTS --parts N    [OPTION...] -- hairspring VERB ARGUMENT...
#
#   RESULTS        a new folder that all nodes see
#   --nodes LIST   each of these nodes runs all benchmarks (--replicate): n[1-8], as in Slurm
#   --parts N      N disjoint parts of the benchmarks (--shard I/N), on whatever nodes are free
#   --accept WHAT  goes on although bound.sh doubts it: shared, unbound, quota, governor, several of
#                  them parted by commas
#   OPTION         an option of sbatch, with = before its value: --partition=bench --time=4:00:00
#   VERB           run, time, instructions or experiment
set -euo pipefail

usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2; }
if [ "$#" -lt 4 ] || [[ $1 == -* ]]; then usage; fi

FLEET="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
FOLDER="$PWD"
RESULTS="$(realpath -m -- "$1")"
shift
. "$FLEET/fleet.sh"
MODE='' TASKS='' NODES=() COMMAND=() OPTIONS=() ACCEPT=''

# Nodes are numbered from 1, as tasks are.
take_nodes() { # LIST
  local names
  names="$(scontrol show hostnames "$1")" || die "--nodes $1: Slurm does not know such a list"
  mapfile -t -O 1 NODES <<<"$names"
  MODE=nodes TASKS="${#NODES[@]}"
}

take_parts() { # NUMBER
  [[ $1 =~ ^[1-9][0-9]{0,5}$ ]] || die "--parts $1: expected a number from 1"
  MODE=parts TASKS="$1"
}

read_arguments() {
  while [ "$#" -gt 0 ]; do
    case "$1" in
      --nodes) take_nodes "${2:?--nodes needs a list of nodes}" && shift ;;
      --parts) take_parts "${2:?--parts needs a number}" && shift ;;
      --accept) ACCEPT="${2:?--accept needs a word}" && shift ;;
      --) shift && COMMAND=("$@") && return ;;
      -*) OPTIONS+=("$1") ;;
      *) die "'$1' is no option: the command begins after --" ;;
    esac
    shift
  done
}

read_arguments "$@"
[ -n "$MODE" ] || die "either --nodes or --parts is needed"
[ "${#COMMAND[@]}" -ge 2 ] || die "a command such as 'hairspring run ./benchmarks' is needed after --"
HAIRSPRING="$(command -v "${COMMAND[0]}")" || die "there is no command '${COMMAND[0]}'"
HAIRSPRING="$(realpath -- "$HAIRSPRING")"
COMMAND[0]="$HAIRSPRING"
[ ! -e "$RESULTS/plan" ] || die "$RESULTS has a fleet already: resubmit.sh runs what it lacks"
mkdir -p -- "$RESULTS/logs" "$RESULTS/tasks"
declare -p FLEET FOLDER HAIRSPRING MODE TASKS NODES COMMAND OPTIONS ACCEPT >"$RESULTS/plan"

mapfile -t tasks < <(seq "$TASKS")
jobs="$(send_tasks "${tasks[@]}")" || die "not all tasks are submitted: resubmit.sh $RESULTS goes on"
# shellcheck disable=SC2086 # one number a line
merge="$(send_merge $jobs)"
printf 'tasks     %s, jobs %s\nmerge     job %s, when they have ended: %s\n' \
  "$TASKS" "$(paste -sd ' ' <<<"$jobs")" "$merge" "$RESULTS/merged.json"
