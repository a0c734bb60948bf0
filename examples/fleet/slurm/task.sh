#!/bin/bash
# One task of a fleet; submit.sh and resubmit.sh submit it.
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --threads-per-core=1
#SBATCH --exclusive
#SBATCH --time=02:00:00
# A node that fails is a reason to look, and a task of a node that stays away would make the merge
# wait for ever. So Slurm does not repeat a task by itself: resubmit.sh does.
#SBATCH --no-requeue
set -euo pipefail
RESULTS="$1"
# shellcheck source=/dev/null
. "$RESULTS/plan"
. "$FLEET/fleet.sh"

task="$SLURM_ARRAY_TASK_ID"
folder="$RESULTS/tasks/$task"
attempt="$folder/$SLURM_JOB_ID"
mkdir -p -- "$attempt"

# Not `--shard auto`: an array of those tasks that failed has another count.
if [ "$MODE" = parts ]; then part=(--shard "$task/$TASKS"); else part=(--replicate); fi

# Since Slurm 22.05 a step does not inherit --cpus-per-task. The history of readings and the core
# clock of the node are kept below the home, which nodes often share: their files have the node's
# fingerprint in their names.
srun --nodes=1 --ntasks=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --threads-per-core=1 \
  --cpu-bind=cores "$FLEET/bound.sh" ${ACCEPT:+--accept "$ACCEPT"} -- \
  "${COMMAND[@]}" "${part[@]}" --document "$attempt"

printf '%s %s\n' "$SLURM_JOB_ID" "$(documents_in "$attempt" | wc -l)" >"$folder/.complete.new"
mv -- "$folder/.complete.new" "$folder/complete"
