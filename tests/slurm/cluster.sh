#!/usr/bin/env bash
# A cluster of one controller and two nodes in this folder, and the fleet of examples/fleet/slurm on
# it. 87-slurm.sh runs this as the first process of namespaces of processes, mounts, host names and
# network, so that everything ends with it.
#
#   cluster.sh WORK    with root/ (the unpacked packages), fleet/, hairspring and multiply in it
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"

WORK="$1"
LIBRARIES="$WORK/root/usr/lib/$(uname -m)-linux-gnu"
DAEMONS="$WORK/root/usr/sbin"
export SLURM_CONF="$WORK/slurm.conf" PATH="$WORK/root/usr/bin:$DAEMONS:$PATH"
export LD_LIBRARY_PATH="$LIBRARIES:$LIBRARIES/slurm-wlm"
# An ordinary user: nobody, in a home of its own.
HOME_OF_USER="$WORK/home"
USER_ID=65534
declare -A node_process=()
status=0

# ---- the cluster ---------------------------------------------------------------------------------

# The lines of both nodes. Each has half of the cores; the other half is set aside for the system.
node_lines() {
  local hardware sockets cores threads half all
  hardware="$(slurmd-wlm -C 2>/dev/null | sed -n 's/^NodeName=[^ ]* //; s/ RealMemory.*//; /CPUs/p')"
  sockets="$(sed -n 's/.*SocketsPerBoard=\([0-9]*\).*/\1/p' <<<"$hardware")"
  cores="$(sed -n 's/.*CoresPerSocket=\([0-9]*\).*/\1/p' <<<"$hardware")"
  threads="$(sed -n 's/.*ThreadsPerCore=\([0-9]*\).*/\1/p' <<<"$hardware")"
  half=$((sockets * cores / 2))
  half=$((half * threads)) all=$((sockets * cores * threads))
  echo "NodeName=n1 NodeHostname=n1 NodeAddr=127.0.0.1 Port=16818 $hardware" \
    "CpuSpecList=$half-$((all - 1)) State=UNKNOWN"
  echo "NodeName=n2 NodeHostname=n2 NodeAddr=127.0.0.1 Port=16819 $hardware" \
    "CpuSpecList=0-$((half - 1)) State=UNKNOWN"
}

# SlurmdTimeout is what it takes until a node that is gone counts as down.
write_configuration() {
  cat >"$SLURM_CONF" <<CONF
ClusterName=hairspring
SlurmctldHost=control(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$WORK/run/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
KillWait=5
SlurmctldPort=16817
SlurmctldPidFile=$WORK/run/slurmctld.pid
SlurmdPidFile=$WORK/run/slurmd.%n.pid
SlurmdSpoolDir=$WORK/spool/%n
StateSaveLocation=$WORK/state
SlurmctldLogFile=$WORK/log/slurmctld.log
SlurmdLogFile=$WORK/log/slurmd.%n.log
PluginDir=$LIBRARIES/slurm-wlm
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
$(node_lines)
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONF
}

start_munge() {
  head -c 1024 /dev/urandom >"$WORK/munge.key"
  chmod 400 "$WORK/munge.key"
  munged --key-file="$WORK/munge.key" --socket="$WORK/run/munge" --pid-file="$WORK/run/munged.pid" \
    --log-file="$WORK/log/munged.log" --seed-file="$WORK/run/munge.seed" --origin=127.0.0.1
}

# A node has a host name of its own, by which its documents differ from those of the other, and its
# processes end with it, as if its power failed. The shell is there to collect what has ended.
start_node() { # NODE
  setpriv --pdeathsig KILL unshare --uts --pid --fork --kill-child --mount-proc bash -c "hostname $1
    '$DAEMONS/slurmd-wlm' -D -N $1 -d '$DAEMONS/slurmstepd-wlm' & wait" >/dev/null 2>&1 &
  node_process[$1]=$!
  disown
}

kill_node() { # NODE
  kill -KILL "${node_process[$1]}"
}

state_of() { sinfo --noheader --nodes="$1" --format=%T; }
is_idle() { [ "$(state_of "$1" 2>/dev/null)" = idle ]; }
is_down() { [[ $(state_of "$1") == down* ]]; }

# Waits until a command succeeds.
until_true() { # SECONDS COMMAND...
  local limit=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$limit" ] || { echo "not within $((limit - SECONDS)) s more: $*" && return 1; }
    sleep 0.5
  done
}

start_cluster() {
  hostname control
  # Slurm finds 127.0.0.1 only where there is another address
  # (findings/slurm-needs-an-address-to-find-loopback.sh).
  ip link set lo up && ip address add 10.213.48.1/32 dev lo || return
  mkdir -p "$WORK"/{run,log,state,spool/n1,spool/n2} "$HOME_OF_USER"
  chmod 755 "$WORK/run"
  chown "$USER_ID:$USER_ID" "$HOME_OF_USER"
  write_configuration && start_munge || return
  slurmctld-wlm -D >/dev/null 2>&1 &
  disown
  start_node n1
  start_node n2
  until_true 60 is_idle n1 && until_true 60 is_idle n2
}

# ---- the fleet -----------------------------------------------------------------------------------

as_user() {
  (cd "$HOME_OF_USER" && HOME="$HOME_OF_USER" exec setpriv --reuid="$USER_ID" --regid="$USER_ID" \
    --clear-groups "$@")
}

fleet() { as_user "$WORK/fleet/$1" "$HOME_OF_USER/$2" "${@:3}"; } # SCRIPT RESULTS ARGUMENT...
results() { echo "$HOME_OF_USER/$1"; }
queue_is_empty() { [ -z "$(squeue --noheader)" ]; }

# Long enough to be killed in between: after the first of six processes there is a document.
submit_fleet() { # RESULTS OPTION...
  fleet submit.sh "$1" "${@:2}" -- "$WORK/hairspring" run "$WORK/multiply" --processes 6 --budget 1s
}

# The task that a node runs; nothing until it has left its first document.
task_on() { # RESULTS NODE
  local task
  task="$(squeue --noheader --array --nodelist="$2" --states=running --format=%K)"
  compgen -G "$(results "$1")/tasks/${task:-none}/*/*.json" >/dev/null || return 1
  echo "$task"
}

# The names of benchmarks, each once, on standard input or of all documents.
names_of() { jq --raw-output '.results[].name' "$@" | sort -u; }
expected_names() { "$WORK/hairspring" run "$WORK/multiply" --list | sort -u; }

# What went into the merge: a time counts, or is left out for a reason that is told.
merged_series() { # RESULTS
  jq --raw-output '.families[].results[] | select(.component == "body")
    | "\(.name) \(.machines + .untrusted + .without_unit)"' "$(results "$1")/merged.json" | sort
}

# Every benchmark from this number of machines.
is_whole() { # RESULTS MACHINES
  diff <(expected_names | sed "s/\$/ $2/") <(merged_series "$1")
}

complete_tasks() { find "$(results "$1")/tasks" -name complete | wc -l; } # RESULTS
log_of_merge() { cat "$(results "$1")"/logs/merge-*.log; }             # RESULTS

# Kills node n2 while it runs a task, and shows what the fleet says.
lose_n2() { # RESULTS
  local task
  until_true 60 task_on "$1" n2 >/dev/null || return
  task="$(task_on "$1" n2)"
  kill_node n2
  echo "n2 is killed, with task $task in the middle"
  until_true 60 is_down n2 && echo "n2 is $(state_of n2)" || return
  echo "$task" >"$WORK/lost"
}

# The merge has run over what there is, and says which task is missing.
check_lost() { # RESULTS
  local lost
  lost="$(cat "$WORK/lost")"
  until_true 120 queue_is_empty || return
  log_of_merge "$1"
  [ -f "$(results "$1")/merged.json" ] &&
    [ ! -e "$(results "$1")/tasks/$lost/complete" ] &&
    log_of_merge "$1" | grep -q "task $lost is not complete" &&
    log_of_merge "$1" | grep -q "1 of [0-9]* tasks are not complete"
}

check_lost_part() { # RESULTS
  check_lost "$1" || return
  # What the killed task has left is merged with the rest.
  [ "$(jq .documents.merged "$(results "$1")/merged.json")" -ge 2 ]
}

bring_back() { # RESULTS
  local said
  start_node n2
  until_true 60 is_idle n2 || return
  said="$(fleet resubmit.sh "$1" --dry-run)" && [[ $said == *" 1 to submit again"* ]] || return
  queue_is_empty || return
  fleet resubmit.sh "$1" || return
  until_true 180 queue_is_empty
}

# After it all tasks are complete, and nothing is left to submit.
check_whole() { # RESULTS TASKS MACHINES
  local said
  [ "$(complete_tasks "$1")" -eq "$2" ] || { log_of_merge "$1" && return 1; }
  is_whole "$1" "$3" || return
  said="$(fleet resubmit.sh "$1")"
  echo "$said"
  [[ $said == *" 0 to submit again"* ]] && queue_is_empty
}

# Both machines, by their fingerprints, each with all of its series.
check_machines() { # RESULTS
  local file names
  [ "$(jq .machines "$(results "$1")/merged.json")" -eq 2 ] || return
  names="$(expected_names)"
  for file in "$(results "$1")"/tasks/*/"$(job_of "$1" 1)"/*.json \
    "$(results "$1")"/tasks/*/"$(job_of "$1" 2)"/*.json; do
    [ "$(names_of "$file")" = "$names" ] || return
  done
}

# A document that is cut short, as on a full disk, or that is gone, is found without a log.
check_damaged() { # RESULTS
  local said file
  file="$(compgen -G "$(results "$1")/tasks/1/$(job_of "$1" 1)/*.json")"
  cp "$file" "$WORK/whole.json"
  head -c 1000 "$WORK/whole.json" >"$file"
  said="$(fleet resubmit.sh "$1" --dry-run)" && [[ $said == *" 1 to submit again"* ]] || return
  rm "$file"
  said="$(fleet resubmit.sh "$1" --dry-run)" && [[ $said == *" 1 to submit again"* ]] || return
  cp "$WORK/whole.json" "$file"
  said="$(fleet resubmit.sh "$1" --dry-run)" && [[ $said == *" 0 to submit again"* ]]
}

job_of() { cut -d ' ' -f 1 "$(results "$1")/tasks/$2/complete"; } # RESULTS TASK

# A job whose step bound.sh has to refuse, with a sentence and before the command runs.
is_refused() { # SENTENCE OPTION [LAUNCHER]
  local said
  as_user sbatch --quiet --wait --output="$HOME_OF_USER/refused.log" "$2" \
    --wrap="srun --cpus-per-task=1 --cpu-bind=cores ${3:-} '$WORK/fleet/bound.sh' -- echo it ran" ||
    true
  said="$(cat "$HOME_OF_USER/refused.log")"
  echo "$said"
  [[ $said == *"refused: $1"* && $said != *"it ran"* ]]
}

is_shared() { is_refused "other jobs may run on this node (OverSubscribe=" --ntasks=1; }
# Something between Slurm and the command takes all CPUs, as some launchers do.
is_unbound() {
  is_refused "Slurm bound it to CPU " --exclusive "taskset --cpu-list 0-$(($(nproc --all) - 1))"
}

# The sentence that says why a task failed reaches the user.
check_reason() {
  local said
  fleet submit.sh broken --parts 1 -- "$WORK/hairspring" run "$WORK/absent" || return
  until_true 60 queue_is_empty || return
  said="$(fleet resubmit.sh broken --dry-run)"
  echo "$said"
  [[ $said == *absent*" 1 to submit again"* ]]
}

# ReFrame's checks, one of each on each node, and their documents as one result. Root submits them:
# ReFrame's Python may be where nobody else can read.
reframe_on_nodes() {
  local merged="$WORK/checks/merged.json"
  (
    cd "$WORK/checks"
    HOME="$WORK/checks" TMPDIR="$WORK/checks" HAIRSPRING="$WORK/hairspring" \
      FLEET_SLURM="--partition=all" timeout 240 "$CACHE/fleet/bin/reframe" --nocolor \
      -C settings.py -c checks.py --system fleet:cluster --prefix "$WORK/checks" \
      --report-file "$WORK/checks/report.json" -S allow_untrusted=1 --max-retries 2 \
      --distribute=idle -r
  ) || return
  "$WORK/hairspring" merge "$WORK/checks/output" --json >"$merged" || return
  [ "$(jq '"\(.documents.merged) \(.machines)"' "$merged")" = '"4 2"' ] &&
    jq --raw-output '.families[].results[].name' "$merged" | grep -qx code
}

bound_where() { grep -h 'alone on the node' "$(results "$1")"/logs/task-*.log; } # RESULTS

step "a controller and two nodes" start_cluster
if [ "$status" -eq 0 ]; then
  step "each node runs all benchmarks: submitted" submit_fleet nodes --nodes 'n[1-2]'
  step "a node is lost" lose_n2 nodes
  step "the others are merged, and the lost task is named" check_lost_part nodes
  step "the node comes back and runs its task" bring_back nodes
  step "nothing is missing" check_whole nodes 2 2
  step "of both machines" check_machines nodes
  step "a document that is damaged or gone is missed" check_damaged nodes
  step "tasks are bound" bound_where nodes
  step "three parts on two nodes: submitted" submit_fleet '3 parts, 50%' --parts 3
  step "a node is lost" lose_n2 '3 parts, 50%'
  step "the others are merged, and the lost task is named" check_lost '3 parts, 50%'
  step "the node comes back, and the part runs again" bring_back '3 parts, 50%'
  step "nothing is missing" check_whole '3 parts, 50%' 3 1
  step "a job that shares its node is refused" is_shared
  step "a step that is not bound is refused" is_unbound
  step "why a task failed is told" check_reason
  step "ReFrame measures on both nodes" reframe_on_nodes
fi
[ "$status" -eq 0 ] || tail -n 30 "$WORK"/log/slurm*.log "$HOME_OF_USER"/*/logs/*.log || true
exit "$status"
