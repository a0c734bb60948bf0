#!/usr/bin/env bash
# examples/fleet/slurm/bound.sh on made-up machines: folders with those files of /proc and /sys that
# it reads, and a scontrol that says what the test wants.
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
BOUND="$ROOT/examples/fleet/slurm/bound.sh"
WORK="$(mktemp -d -t hairspring-bound.XXXXXX)"
trap 'rm -rf "$WORK"' EXIT
status=0

put() { mkdir -p "$WORK/node/${1%/*}" && printf '%s\n' "$2" >"$WORK/node/$1"; } # FILE TEXT

# A machine of four cores with two threads each, as many number them: CPU 4 is the other thread of
# CPU 0. The step has CPU 1.
new_node() {
  local cpu sys=sys/devices/system/cpu
  rm -rf "$WORK/node"
  for cpu in 0 1 2 3 4 5 6 7; do
    put "$sys/cpu$cpu/topology/thread_siblings_list" "$((cpu % 4)),$((cpu % 4 + 4))"
    put "$sys/cpu$cpu/cpufreq/scaling_governor" performance
  done
  put proc/self/status $'Name:\tbash\nCpus_allowed_list:\t1'
  put proc/self/cgroup 0::/system.slice/job_1/step_0
  put sys/fs/cgroup/system.slice/job_1/cpuset.cpus.effective 0-7
  put sys/fs/cgroup/system.slice/job_1/cpu.max "max 100000"
  mkdir -p "$WORK/bin"
  cat >"$WORK/bin/scontrol" <<'SCRIPT'
#!/bin/sh
# The number of an array is that of its last task too.
if [ "$4" = 7 ]; then echo "JobId=6 OverSubscribe=OK Contiguous=0"; fi
echo "JobId=1 NodeList=n1 OverSubscribe=NO Contiguous=0"
SCRIPT
  chmod 755 "$WORK/bin/scontrol"
}

allow() { put proc/self/status $'Name:\tbash\nCpus_allowed_list:\t'"$1"; } # CPUS

# It runs in a step that asked for a core, with the variables that the test adds.
bound() { # [VARIABLE=VALUE...] [OPTION...]
  local variables=()
  while [[ ${1:-} == *=* ]]; do variables+=("$1") && shift; done
  env -u SLURM_CPU_BIND_TYPE -u SLURM_CPU_BIND_LIST -u SLURM_ARRAY_JOB_ID -u SLURM_ARRAY_TASK_ID \
    PATH="$WORK/bin:$PATH" BOUND_ROOT="$WORK/node" SLURM_JOB_ID=1 SLURMD_NODENAME=n1 \
    SLURM_CPUS_PER_TASK=1 "${variables[@]}" \
    "$BOUND" "$@" -- echo "it ran"
}

passes() { says 0 "$1" bound "${@:2}" && says 0 "it ran" bound "${@:2}"; } # TEXT ARGUMENT...
refuses() { says 1 "refused: $1" bound "${@:2}"; }                       # TEXT ARGUMENT...
accepts() { says 0 "accepted: $2" bound --accept "$1"; }                # WHAT TEXT

other_thread_too() { allow 1,5 && passes "CPU 1,5; no mask from Slurm; cpuset 0-7; no other thread"; }

shared() {
  sed -i s/=NO/=OK/g "$WORK/bin/scontrol"
  refuses "other jobs may run on this node (OverSubscribe=OK)" &&
    accepts governor,shared "other jobs may run"
}

last_of_array() {
  passes "alone on the node" SLURM_JOB_ID=7 SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=3
}

no_scontrol() {
  printf '#!/bin/sh\nexit 1\n' >"$WORK/bin/scontrol"
  refuses "other jobs may run on this node (OverSubscribe=unknown)"
}

unbound() {
  allow 0-7
  refuses "it may run on 4 cores (CPU 0,1,2,3,4,5,6,7) and asked for 1: nothing binds it" &&
    accepts unbound "it may run on 4 cores"
}

too_few_cores() {
  allow 1,5
  refuses "it asked for 2 cores and has 1: CPU 1,5 are threads of the same cores" \
    SLURM_CPUS_PER_TASK=2
}

masks() {
  local mask=(SLURM_CPU_BIND_TYPE=mask_cpu: SLURM_CPU_BIND_LIST=0x2)
  passes "CPU 1; cpuset" "${mask[@]}" || return
  refuses "Slurm bound it to CPU 5, and the kernel lets it run on CPU 1" "${mask[0]}" \
    SLURM_CPU_BIND_LIST=0x20 || return
  allow 68
  passes "CPU 68;" "${mask[0]}" SLURM_CPU_BIND_LIST=0x100000000000000000 --accept unbound
}

outside_of_cpuset() {
  put sys/fs/cgroup/system.slice/job_1/cpuset.cpus.effective 2-3,6
  refuses "CPU 1 is not in the cpuset of its control group, 2-3,6"
}

# The quota of a group above counts too.
quota() {
  put sys/fs/cgroup/system.slice/cpu.max "150000 100000"
  refuses "its control group may use 150000 us of processor time in 100000 us" &&
    accepts quota "its control group"
}

quota_of_version_1() {
  put proc/self/cgroup $'4:cpu,cpuacct:/job_1\n3:cpuset:/job_1\n0::/'
  put sys/fs/cgroup/cpu/job_1/cpu.cfs_quota_us -1
  put sys/fs/cgroup/cpu/job_1/cpu.cfs_period_us 100000
  put sys/fs/cgroup/cpuset/job_1/cpuset.effective_cpus 0-3
  passes "cpuset 0-3" || return
  put sys/fs/cgroup/cpu/job_1/cpu.cfs_quota_us 50000
  refuses "its control group may use 50000 us of processor time in 100000 us"
}

governor() {
  put sys/devices/system/cpu/cpu1/cpufreq/scaling_governor powersave
  refuses "the frequency governor of CPU 1 is 'powersave'" && accepts governor "the frequency"
}

# A virtual machine or a container shows little of this.
nothing_to_see() {
  rm -rf "$WORK/node/sys" "$WORK/node/proc/self/cgroup"
  passes "CPU 1; no mask from Slurm; no cpuset to see; no other thread on its cores; no governor"
}

try() { new_node && "$@"; }

step "a step of its own" try passes "alone on the node; CPU 1;"
step "its other threads are told" try passes "its cores have the threads 5 too; governor performance"
step "a whole core" try other_thread_too
step "a node that is shared" try shared
step "the last task of an array" try last_of_array
step "a controller that does not answer" try no_scontrol
step "no job" try refuses "this is no job of Slurm" SLURM_JOB_ID=
step "no binding" try unbound
step "threads for cores" try too_few_cores
step "the mask of Slurm" try masks
step "outside of the cpuset" try outside_of_cpuset
step "a quota" try quota
step "a quota of version 1" try quota_of_version_1
step "a governor" try governor
step "a system that shows nothing" try nothing_to_see
step "no command" says 2 "which command?" "$BOUND" --accept shared
exit "$status"
