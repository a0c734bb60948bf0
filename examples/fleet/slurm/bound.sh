#!/bin/bash
# Checks that this step of a Slurm job has the cores that it asked for, and nobody else has them;
# then runs the command, or refuses with a sentence and ends with 1.
#
#   srun --cpu-bind=cores bound.sh [--accept WHAT[,WHAT]] -- COMMAND...
#
#   shared     other jobs may run on this node: the job is not --exclusive
#   unbound    the step may run on more, fewer or other CPUs than it asked for
#   quota      a control group limits the processor time, so the kernel stops the step in between
#   governor   the core clock is not held: the frequency governor is not `performance`
#
# What the system does not show, as a virtual machine its governor, is said and not refused.
# BOUND_ROOT=FOLDER reads /proc and /sys below another folder, for tests.
set -euo pipefail

ROOT="${BOUND_ROOT:-}"
CPUS="$ROOT/sys/devices/system/cpu"
accepted='' said=()

say() { printf 'bound.sh: %s: %s\n' "${SLURMD_NODENAME:-this node}" "$*" >&2; }

# Refuses, unless this doubt is accepted.
doubt() { # WHAT SENTENCE
  if [[ ,$accepted, == *",$1,"* ]]; then
    say "accepted: $2"
  else
    say "refused: $2 (--accept $1 runs it nevertheless)"
    exit 1
  fi
}

# A list such as 0-2,8 as one number a line, sorted for comm and join.
numbers() { # LIST
  local range
  for range in ${1//,/ }; do seq "${range%-*}" "${range#*-}"; done | sort -u
}

# The numbers on standard input as they are shown: 0,1,2,8.
list() { sort -n | paste -sd ,; }

# A mask of Slurm, in hexadecimal digits, as one number a line.
numbers_of_mask() { # MASK
  local digits="${1#0x}" at bit
  for ((at = 0; at < ${#digits}; at++)); do
    for bit in 0 1 2 3; do
      if (((16#${digits: -1 - at:1} >> bit) & 1)); then echo $((4 * at + bit)); fi
    done
  done | sort -u
}

# The first line of a file; nothing if the system does not show it.
shown() { # FILE
  local line=''
  { read -r line <"$1" || true; } 2>/dev/null
  printf '%s\n' "$line"
}

allowed_cpus() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$ROOT/proc/self/status"; }

# The CPUs that share a core with this one, and itself.
siblings() { # CPU
  local listed
  listed="$(shown "$CPUS/cpu$1/topology/thread_siblings_list")"
  numbers "${listed:-$1}"
}

# The core of each CPU on standard input, named by its lowest CPU.
cores() {
  local cpu
  while read -r cpu; do siblings "$cpu" | sort -n | head -n 1; done | sort -u
}

# The folders of the control groups of this step for a controller, from its own up to the root:
# version 2 has one tree for all, version 1 one for each.
groups_of() { # CONTROLLER
  local path base
  path="$(awk -F : -v name="$1" '$2 ~ "(^|,)" name "(,|$)" { print "1:" $3; exit }' \
    "$ROOT/proc/self/cgroup" 2>/dev/null || true)"
  base="$ROOT/sys/fs/cgroup/$1"
  if [ -z "$path" ] || [ ! -d "$base" ]; then
    path="2:$(sed -n 's/^0:://p' "$ROOT/proc/self/cgroup" 2>/dev/null || true)"
    base="$ROOT/sys/fs/cgroup"
  fi
  path="${path#*:}"
  while [ -n "$path" ] && [ "$path" != / ]; do
    echo "$base$path"
    path="${path%/*}"
  done
  echo "$base"
}

# ---- checks --------------------------------------------------------------------------------------

# Slurm says OverSubscribe=NO of a job that has its nodes alone. The last task of an array has the
# number of the whole array: by this number scontrol shows all of its tasks.
check_exclusive() {
  local job="${SLURM_JOB_ID:-}" how
  [ -n "$job" ] || { doubt shared "this is no job of Slurm" && return; }
  [ -z "${SLURM_ARRAY_TASK_ID:-}" ] || job="${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
  how="$(scontrol --oneliner show job "$job" |
    sed -n 's/.* OverSubscribe=\([^ ]*\).*/\1/p')" || true
  if [ "$how" = NO ]; then
    said+=("alone on the node")
  else
    doubt shared "other jobs may run on this node (OverSubscribe=${how:-unknown}): submit with \
--exclusive"
  fi
}

# The mask that Slurm has set, where it says so, against the one that the kernel keeps.
check_mask() {
  local mask cpus differ
  cpus="$(numbers "$(allowed_cpus)")"
  said+=("CPU $(list <<<"$cpus")")
  [[ ${SLURM_CPU_BIND_TYPE:-} == mask_cpu* && ${SLURM_CPU_BIND_LIST:-} =~ ^0x[0-9A-Fa-f]+$ ]] ||
    { said+=("no mask from Slurm") && return; }
  mask="$(numbers_of_mask "$SLURM_CPU_BIND_LIST")"
  differ="$(comm -3 <(echo "$mask") <(echo "$cpus") | tr -d '\t' | list)"
  [ -z "$differ" ] || doubt unbound "Slurm bound it to CPU $(list <<<"$mask"), and the kernel lets \
it run on CPU $(list <<<"$cpus"): a control group, or another program, has changed that"
}

check_asked() {
  local asked="${SLURM_CPUS_PER_TASK:-1}" cpus cores
  cpus="$(numbers "$(allowed_cpus)")"
  cores="$(cores <<<"$cpus")"
  if [ "$(wc -l <<<"$cores")" -gt "$asked" ]; then
    doubt unbound "it may run on $(wc -l <<<"$cores") cores (CPU $(list <<<"$cpus")) and asked for \
$asked: nothing binds it; srun needs --cpu-bind=cores, and the cluster TaskPlugin=task/affinity or \
task/cgroup"
  elif [ "$(wc -l <<<"$cores")" -lt "$asked" ]; then
    doubt unbound "it asked for $asked cores and has $(wc -l <<<"$cores"): CPU $(list <<<"$cpus") \
are threads of the same cores; submit with --threads-per-core=1"
  fi
}

# The control group keeps other jobs away from these CPUs only if it has them all.
check_cpuset() {
  local folder file listed outside
  while read -r folder; do
    for file in cpuset.cpus.effective cpuset.effective_cpus cpuset.cpus; do
      listed="$(shown "$folder/$file")"
      [ -z "$listed" ] || break 2
    done
  done < <(groups_of cpuset)
  [ -n "${listed:-}" ] || { said+=("no cpuset to see") && return; }
  outside="$(comm -13 <(numbers "$listed") <(numbers "$(allowed_cpus)") | list)"
  said+=("cpuset $listed")
  [ -z "$outside" ] ||
    doubt unbound "CPU $outside is not in the cpuset of its control group, $listed"
}

# `cpu.max` is `max 100000`, or microseconds in a period; version 1 has -1 for none.
check_quota() {
  local folder quota period
  while read -r folder; do
    read -r quota period <<<"$(shown "$folder/cpu.max")" || true
    [ -n "$quota" ] || {
      quota="$(shown "$folder/cpu.cfs_quota_us")" period="$(shown "$folder/cpu.cfs_period_us")"
    }
    [[ $quota =~ ^[0-9]+$ ]] || continue
    doubt quota "its control group may use $quota us of processor time in $period us; then the \
kernel stops it (${folder#"$ROOT"})"
  done < <(groups_of cpu)
}

# What else may run on the other threads of its cores. Another job may not, on a node of its own.
tell_siblings() {
  local cpus cpu others
  cpus="$(numbers "$(allowed_cpus)")"
  others="$(while read -r cpu; do siblings "$cpu"; done <<<"$cpus" | sort -u |
    comm -23 - <(echo "$cpus") | list)"
  said+=("${others:+its cores have the threads $others too}")
  [ -n "$others" ] || said[-1]="no other thread on its cores"
}

check_governor() {
  local cpu governor seen=''
  while read -r cpu; do
    governor="$(shown "$CPUS/cpu$cpu/cpufreq/scaling_governor")"
    [ -n "$governor" ] || continue
    seen="$governor"
    [ "$governor" = performance ] || doubt governor "the frequency governor of CPU $cpu is \
'$governor', not 'performance': the core clock moves; --cpu-freq=Performance of srun sets it where \
the cluster allows"
  done < <(numbers "$(allowed_cpus)")
  said+=("${seen:+governor $seen}")
  [ -n "$seen" ] || said[-1]="no governor to see"
}

if [ "${1:-}" = --accept ]; then accepted="${2:?--accept needs a word}" && shift 2; fi
[ "${1:-}" != -- ] || shift
[ "$#" -gt 0 ] || { say "which command?" && exit 2; }
check_exclusive
check_mask
check_asked
check_cpuset
check_quota
tell_siblings
check_governor
say "$(printf '%s; ' "${said[@]}" | sed 's/; $//')"
exec "$@"
