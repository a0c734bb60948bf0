#!/usr/bin/env bash
# Measures on each box of a list, by GNU parallel over ssh: one job and one document a box, and one
# job at a time there. The documents are fetched and merged.
#
#   measure.sh [OPTION...] BOXES FOLDER VERB [ARGUMENT...]
#
#   BOXES              a login a line, as in `parallel --sshloginfile`: box1, me@box2,
#                      ssh -p 2222 box3
#   FOLDER             for what the boxes send. If it has something of an earlier call, only the
#                      jobs that failed run again
#   VERB [ARGUMENT...] of hairspring: run or time, whose documents can be merged
#
#   --send FILE        send this file first, to the folder where the job runs (repeatable)
#   --hairspring FILE  send this command, which must be static, in place of an installed one
#   --shard            disjoint parts, one for each box; without it all boxes measure the same
#
# HAIRSPRING names the command that merges (default: hairspring).
# Exit status: 0, 1 if a job failed (the others are merged), 2 if the call is wrong.
set -euo pipefail

die() { echo "measure.sh: $*" >&2 && exit 2; }

show_help() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; }

send=() own_command='' shard=''
read_options() {
  while [ $# -gt 0 ]; do
    case "$1" in
      -h | --help) show_help && exit 0 ;;
      --shard) shard=yes && shift ;;
      --send | --hairspring)
        [ -f "${2:-}" ] || die "$1 '${2:-}': there is no such file"
        if [ "$1" = --send ]; then send+=("$2"); else own_command="$2"; fi
        shift 2
        ;;
      -*) die "there is no option $1; see --help" ;;
      *) break ;;
    esac
  done
  [ $# -ge 3 ] || die "name a list of boxes, a folder and a verb; see --help"
  boxes="$1" folder="$2" words=("${@:3}")
}

# Gives each login a host group of its own, so that a job can be sent to one box.
name_logins() {
  awk '/^[ \t]*(#|$)/ { next }
    { box = "box" ++count }
    sub(/^@/, "") { print "@" box "+" $0; next }
    { print "@" box "/" $0 }' "$boxes" >"$folder/logins"
  count="$(wc -l <"$folder/logins")"
  [ "$count" -gt 0 ] || die "$boxes names no box"
}

# What a box runs. It is a file, so that no shell on the way reads the arguments.
# shellcheck disable=SC2016 # the box fills in what has a dollar
write_job() {
  local command=hairspring word
  [ -z "$own_command" ] || command=./hairspring
  {
    printf '#!/bin/sh\n# A job on a box: NUMBER OF\n'
    printf 'rm -rf "job-$1" && mkdir "job-$1" || exit\nstatus=0\n%s' "$command"
    for word in "${words[@]}"; do printf " '%s'" "${word//\'/\'\\\'\'}"; done
    if [ -n "$shard" ]; then printf ' --shard "$1/$2"'; else printf ' --replicate'; fi
    printf ' --document "job-$1" || status=$?\necho "$status" >"job-$1/status"\n'
    printf 'tar -cf "job-$1.tar" "job-$1"\nexit "$status"\n'
  } >"$folder/job.sh"
}

# Another command must not be taken for the same jobs.
check_earlier() {
  local text
  text="$(cat "$folder/logins" "$folder/job.sh" | cksum)"
  if [ -e "$folder/jobs" ] && [ "$text" != "$(cat "$folder/jobs")" ]; then
    die "$folder has documents of other boxes or another command: name another folder"
  fi
  echo "$text" >"$folder/jobs"
}

# Path of a file whose folder stays on this machine: parallel sends what follows `/./`.
sent() { # FILE
  printf '%s/./%s\n' "$(cd "$(dirname "$1")" && pwd)" "$(basename "$1")"
}

# The jobs that have not ended well, and whose box answers. Without the second, parallel would wait
# for a box that is down.
find_jobs() {
  local number login answers
  jobs=() failed=0
  answers="$(parallel --will-cite -j 0 --nonall --tag --sshloginfile "$folder/logins" \
    echo answers </dev/null || true)"
  for number in $(seq "$count"); do
    [ "$(cat "$folder/documents/job-$number/status" 2>/dev/null)" != 0 ] || continue
    login="$(sed -n "$number{s,^@[^/]*/,,;s,^[0-9]*/,,;p}" "$folder/logins")"
    if grep -qxF "$login"$'\tanswers' <<<"$answers"; then
      jobs+=("$number")
    else
      failed=1
      echo "measure.sh: job $number: $login does not answer" >&2
    fi
  done
}

# -j 1: one job at a time on a box, however many CPUs it has.
measure() {
  local file number groups=() files=(--basefile "$(sent "$folder/job.sh")")
  for number in "${jobs[@]}"; do groups+=("$number@box$number"); done
  for file in ${send[@]+"${send[@]}"}; do files+=(--basefile "$(sent "$file")"); done
  if [ -n "$own_command" ]; then
    install -m 755 "$own_command" "$folder/hairspring"
    files+=(--basefile "$(sent "$folder/hairspring")")
  fi
  (
    cd "$folder"
    rm -f job-*.tar
    grep -E "^@box($(IFS='|' && echo "${jobs[*]}"))[+/]" logins >logins.up
    parallel --will-cite -j 1 --sshloginfile logins.up --hostgroups --workdir "$remote" \
      "${files[@]}" --return 'job-{}.tar' --joblog joblog --results 'said/{}' \
      sh job.sh '{}' "$count" ::: "${groups[@]}" </dev/null >/dev/null
  )
}

# Removes the folder on each box that answers.
clean_boxes() {
  [ ! -e "$folder/logins.up" ] || parallel --will-cite -j 0 --nonall \
    --sshloginfile "$folder/logins.up" rm -rf "$remote" </dev/null >/dev/null 2>&1 || true
}

# Unpacks what came, and says what was wrong with each job that failed.
unpack() {
  local number status
  mkdir -p "$folder/documents"
  for number in ${jobs[@]+"${jobs[@]}"}; do
    rm -rf "$folder/documents/job-$number"
    [ ! -e "$folder/job-$number.tar" ] ||
      tar -xf "$folder/job-$number.tar" -C "$folder/documents" --no-same-owner
    status="$(cat "$folder/documents/job-$number/status" 2>/dev/null || echo 'nothing left')"
    [ "$status" != 0 ] || continue
    failed=1
    echo "measure.sh: job $number ended with $status:" \
      "$(tail -n 3 "$folder/said/$number.err" 2>/dev/null)" >&2
  done
  [ "$failed" -eq 0 ] || echo "measure.sh: the same call runs the failed jobs again" >&2
}

main() {
  local status
  read_options "$@"
  command -v parallel >/dev/null || die "GNU parallel is missing: apt-get install parallel rsync"
  mkdir -p "$folder"
  name_logins
  write_job
  check_earlier
  remote="hairspring-$(date +%s)-$$"
  trap clean_boxes EXIT
  find_jobs
  [ "${#jobs[@]}" -eq 0 ] || measure || true
  unpack
  status="$failed"
  "${HAIRSPRING:-hairspring}" merge "$folder/documents" || status=1
  return "$status"
}

main "$@"
