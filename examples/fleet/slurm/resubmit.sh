#!/bin/bash
# Submits those tasks of a fleet again that have no complete document and are not in the queue, and
# the merge behind them.
#
#   resubmit.sh RESULTS [--dry-run]
set -euo pipefail

usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2; }
case "$#:${2:---dry-run}" in 1:--dry-run | 2:--dry-run) ;; *) usage ;; esac
[[ $1 != -* ]] || usage

RESULTS="$(realpath -m -- "$1")"
. "$(dirname "${BASH_SOURCE[0]}")/fleet.sh"
[ -f "$RESULTS/plan" ] || die "$RESULTS has no file 'plan': submit.sh makes such a folder"
# shellcheck source=/dev/null
. "$RESULTS/plan"

queued=" $(queued_tasks | paste -sd ' ') "
waiting=0 again=()
for task in $(seq "$TASKS"); do
  if [[ $queued == *" $task "* ]]; then
    waiting=$((waiting + 1))
  elif ! is_complete "$task"; then
    again+=("$task")
    echo "task $task${NODES[task]:+ (${NODES[task]})}: $(last_words "$task")"
  fi
done

printf 'tasks     %s: %s complete, %s in the queue, %s to submit again\n' \
  "$TASKS" "$((TASKS - waiting - ${#again[@]}))" "$waiting" "${#again[@]}"
[ "${#again[@]}" -gt 0 ] && [ -z "${2:-}" ] || exit 0
jobs="$(send_tasks "${again[@]}")"
# shellcheck disable=SC2086 # one number a line
merge="$(send_merge $jobs)"
printf 'jobs      %s\nmerge     job %s, when they have ended: %s\n' \
  "$(paste -sd ' ' <<<"$jobs")" "$merge" "$RESULTS/merged.json"
