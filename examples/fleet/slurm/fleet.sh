# shellcheck shell=bash
# What submit.sh, resubmit.sh, task.sh and merge.sh share. To be sourced, after RESULTS was set to
# the folder of a fleet:
#
#   plan               what runs where, as submit.sh wrote it: the variables FLEET, FOLDER,
#                      HAIRSPRING, MODE, TASKS, NODES, COMMAND, OPTIONS and ACCEPT
#   tasks/I/JOB/       the documents of task I, as far as that job got
#   tasks/I/complete   the number of the job that ended well
#   logs/              what the jobs printed
#   merged.json        the result of all, with merged.html beside it

# Slurm runs a copy of a script, under another name.
NAME="${0##*/}"
complain() { printf '%s: %s\n' "$NAME" "$*" >&2; }
die() { complain "$@" && exit 1; }

# The name of the jobs of this fleet. It tells them apart from those of another folder.
job_name() { # [merge]
  printf 'hairspring-%s%s\n' "$(cksum <<<"$RESULTS" | cut -d ' ' -f 1)" "${1:+-$1}"
}

# Tasks that wait or run.
queued_tasks() { squeue --me --noheader --array --name="$(job_name)" --format=%K; }
queued_jobs() { squeue --me --noheader --array --name="$(job_name)" --format=%F; }

# A file name in an option of Slurm: % begins a placeholder there.
plain_name() { printf '%s\n' "${1//%/%%}"; }

# Submits a job of the plan, and prints its number.
submit() { # OPTION... SCRIPT [ARGUMENT...]
  local answer
  # shellcheck disable=SC2153 # the plan has it
  answer="$(sbatch --parsable --chdir="$FOLDER" "$@")" || return
  printf '%s\n' "${answer%%;*}"
}

# Submits these tasks, and prints the numbers of their jobs. Parts may run on any node: they are one
# array. A task of a node waits for this node: it is an array of one.
send_tasks() { # TASK...
  local task log common
  log="$(plain_name "$RESULTS")/logs/task-%a-%A.log"
  common=(--job-name="$(job_name)" --output="$log" "${OPTIONS[@]}")
  if [ "$MODE" = parts ]; then
    submit --array="$(IFS=, && echo "$*")" "${common[@]}" "$FLEET/task.sh" "$RESULTS"
    return
  fi
  for task in "$@"; do
    submit --array="$task" --nodelist="${NODES[task]}" "${common[@]}" "$FLEET/task.sh" "$RESULTS" ||
      return
  done
}

# Submits the merge behind these jobs and those that are in the queue.
#
# It is `afterany` and not `afterok`. With `afterok` one failed task would leave the merge in the
# queue for ever (DependencyNeverSatisfied), and nobody would see what the others measured. The
# merge itself looks at what each task left, and names those that are not complete.
send_merge() { # JOB...
  local jobs log
  jobs="$({ printf '%s\n' "$@" && queued_jobs; } | sed '/^$/d' | sort -un | paste -sd :)"
  log="$(plain_name "$RESULTS")/logs/merge-%j.log"
  submit --job-name="$(job_name merge)" --output="$log" ${jobs:+--dependency="afterany:$jobs"} \
    "${OPTIONS[@]}" "$FLEET/merge.sh" "$RESULTS"
}

# The documents of one attempt at a task.
documents_in() { # FOLDER
  [ ! -d "$1" ] || find "$1" -maxdepth 1 -type f -name '*.json' ! -name '.*' | sort
}

# Whether a document can be read to its end.
is_readable() { "$HAIRSPRING" merge --strict "$1" >/dev/null 2>&1; } # FILE

# Whether a job of this task ended well, and what it wrote is still there. A part that is so small
# that it has no benchmark has no document: its file says 0.
is_complete() { # TASK
  local job wanted document found=0
  { read -r job wanted <"$RESULTS/tasks/$1/complete"; } 2>/dev/null || return 1
  while read -r document; do
    is_readable "$document" || return 1
    found=$((found + 1))
  done < <(documents_in "$RESULTS/tasks/$1/$job")
  [ "$found" -eq "$wanted" ]
}

# The documents of a complete task: those of the job that ended well.
complete_documents() { # TASK
  local job
  read -r job _ <"$RESULTS/tasks/$1/complete"
  documents_in "$RESULTS/tasks/$1/$job"
}

# The documents of a task that is not complete: what all its jobs left behind.
documents_so_far() { # TASK
  local folder
  for folder in "$RESULTS/tasks/$1"/*/; do documents_in "${folder%/}"; done
}

# Why a task is not complete, as far as its last log tells.
last_words() { # TASK
  local log line
  log="$(find "$RESULTS/logs" -name "task-$1-*.log" -printf '%T@ %p\n' | sort -n | tail -n 1)"
  log="${log#* }"
  [ -n "$log" ] || { echo "it has not run" && return; }
  line="$(sed '/^$/d; /^srun: .*Exited with exit code/d' "$log" | tail -n 1 | cut -c 1-300)"
  case "$line" in
    "" | bound.sh:*"alone on the node"*) echo "its job ended in the middle, without a word" ;;
    *) printf '%s\n' "$line" ;;
  esac
}
