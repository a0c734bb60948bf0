#!/bin/bash
# Merges what the tasks of a fleet left behind; submit.sh and resubmit.sh submit it.
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=01:00:00
set -euo pipefail
RESULTS="$1"
# shellcheck source=/dev/null
. "$RESULTS/plan"
. "$FLEET/fleet.sh"
NAME=merge.sh

new="$RESULTS/.merge-${SLURM_JOB_ID:-$$}"
trap 'rm -f -- "$new".*' EXIT
lacking=()
for task in $(seq "$TASKS"); do
  if is_complete "$task"; then
    complete_documents "$task"
  else
    lacking+=("$task")
    documents_so_far "$task"
  fi
done >"$new.files"

status=0
"$HAIRSPRING" merge --files-from "$new.files" --json --html "$new.html" >"$new.json" || status=$?
if [ "$status" -eq 0 ]; then
  mv -- "$new.html" "$RESULTS/merged.html"
  mv -- "$new.json" "$RESULTS/merged.json"
fi
for task in "${lacking[@]}"; do
  complain "task $task is not complete${NODES[task]:+ (${NODES[task]})}: $(last_words "$task")"
done
[ "$status" -eq 0 ] || complain "nothing is merged"
[ "${#lacking[@]}" -eq 0 ] || die "${#lacking[@]} of $TASKS tasks are not complete; what they left" \
  "behind counts so far. $FLEET/resubmit.sh $RESULTS submits them again"
exit "$status"
