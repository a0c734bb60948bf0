#!/usr/bin/env bash
# Runs `hairspring ab` in a job of GitHub Actions: installs the command, fetches the base, writes
# the verdicts into the summary and into a comment on the pull request. action.yml says what the
# variables hold. Ends with the status of `hairspring ab`.
set -euo pipefail

MARK='<!-- hairspring ab -->' # by which a later run finds its comment
document="${RUNNER_TEMP:-/tmp}/hairspring-ab.json"
comment="${RUNNER_TEMP:-/tmp}/hairspring-ab.md"

# A line that the page of the job shows. Line ends would begin other commands of the runner.
tell() { # error|warning|notice TEXT
  printf '::%s title=Hairspring::%s\n' "$1" "${2//$'\n'/ }"
}

fail() {
  tell error "$1"
  exit "${2:-1}"
}

install_command() {
  [ "$HAIRSPRING_VERSION" != none ] || {
    command -v hairspring >/dev/null || fail "version is none, and no hairspring is on the PATH" 2
    return 0
  }
  [[ $HAIRSPRING_VERSION =~ ^[0-9A-Za-z.+-]+$ ]] ||
    fail "'$HAIRSPRING_VERSION' is no version: write one such as 0.1.0, or none" 2
  local venv="${RUNNER_TEMP:-/tmp}/hairspring-venv"
  { python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet "hairspring==$HAIRSPRING_VERSION"; } ||
    fail "the package hairspring $HAIRSPRING_VERSION could not be installed"
  PATH="$venv/bin:$PATH"
}

# A value of the event that started the job; empty if it has none.
of_event() { # FILTER
  [ ! -s "${GITHUB_EVENT_PATH:-}" ] || jq -r "$1 // empty" "$GITHUB_EVENT_PATH"
}

# The base, and its commit in a clone that has not all of them.
find_base() {
  base="${HAIRSPRING_BASE:-$(of_event .pull_request.base.sha)}"
  base="${base:-HEAD^}"
  [[ $base != -* ]] || fail "the base '$base' looks like an option" 2
  git rev-parse --quiet --verify "$base^{commit}" >/dev/null ||
    git fetch --quiet --depth=1 origin "$base" ||
    fail "there is no commit '$base' here, and origin does not give it: check out with fetch-depth \
2 or more"
  # A branch of origin that was just fetched has no name here.
  git rev-parse --quiet --verify "$base^{commit}" >/dev/null || base="$(git rev-parse FETCH_HEAD)"
}

# Splits a text into words as a shell does, without expanding anything.
words() { # TEXT -> split
  local text
  text="$(xargs -r -n 1 printf '%s\n' <<<"$1" 2>&1)" || fail "'$1' has an open quote" 2
  split=()
  [ -z "$text" ] || mapfile -t split <<<"$text"
}

# The comment of an earlier run is replaced: a pull request has one.
write_comment() { # NUMBER
  local of="repos/$GITHUB_REPOSITORY/issues" earlier
  earlier="$(gh api "$of/$1/comments" --paginate \
    --jq ".[] | select(.body | startswith(\"$MARK\")) | .id" | tail -n 1)" || return
  if [ -n "$earlier" ]; then
    gh api --method PATCH "$of/comments/$earlier" --field "body=@$comment" >/dev/null
  else
    gh api --method POST "$of/$1/comments" --field "body=@$comment" >/dev/null
  fi
}

install_command
find_base
words "$HAIRSPRING_OPTIONS" && options=("${split[@]}")
words "$HAIRSPRING_FILTERS"
status=0
hairspring ab --json "${options[@]}" -- "$base" "$HAIRSPRING_HEAD" "${split[@]}" >"$document" ||
  status=$?
echo "status=$status" >>"$GITHUB_OUTPUT"
[ -s "$document" ] || fail "hairspring ab gave no result; its messages are above" "$status"
echo "document=$document" >>"$GITHUB_OUTPUT"
{ echo "$MARK" && hairspring report "$document" --markdown; } >"$comment"
tail -n +2 "$comment" >>"$GITHUB_STEP_SUMMARY"

number="$(of_event .pull_request.number)"
if [ "$HAIRSPRING_COMMENT" = true ] && [ -n "$number" ]; then
  write_comment "$number" || tell warning "the comment was not written: the token may not write to \
pull requests (permissions: pull-requests: write; pull requests of forks have no such token)"
fi
[ "$status" -ne 3 ] || tell error "a threshold is exceeded: see the summary"
exit "$status"
