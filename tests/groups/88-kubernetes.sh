#!/usr/bin/env bash
# The files of examples/fleet/kubernetes by the schemas of Kubernetes, the newest and the oldest one
# that has all of their fields as stable; and what no schema says: that the pods get CPUs of their
# own, that there is one on each node, and that the number of parts is stated. No cluster runs them.
# Tier: release
# shellcheck disable=SC2317 # the checks are called by `step`
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$ROOT"
status=0
VENV="$CACHE/kubernetes"
FILES=(examples/fleet/kubernetes/*.yaml)
JOB=examples/fleet/kubernetes/job.yaml
VERSIONS=(1.33 1.37)

need_venv "$VENV" tools/kubernetes-requirements.txt
need_command jq jq
WORK="$(mktemp -d -t hairspring-kubernetes.XXXXXX)"
trap 'rm -rf "$WORK"' EXIT

validate() { "$VENV/bin/kubernetes-validate" --strict --quiet -k "$1" "${@:2}"; } # VERSION FILE...

# A schema that lets everything pass would prove nothing.
refuses() { # TEXT CHANGE
  sed "$2" "$JOB" >"$WORK/job.yaml"
  ! cmp -s "$JOB" "$WORK/job.yaml" || { echo "nothing is changed by $2" && return 1; }
  says 1 "$1" validate "${VERSIONS[-1]}" "$WORK/job.yaml"
}

as_json() { "$VENV/bin/python" -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'; }
holds() { as_json <"$JOB" | jq --exit-status "$1" >/dev/null; } # FILTER

for version in "${VERSIONS[@]}"; do
  step "the schemas of Kubernetes $version" validate "$version" "${FILES[@]}"
done
step "a misspelled field is refused" refuses completionsMode 's/completionMode/completionsMode/'
step "a word for a number is refused" refuses spec.completions 's/completions: 4/completions: four/'
step "whole CPUs, requested as limited" holds '.spec.template.spec.containers[].resources
  | .requests == .limits and (.limits.cpu | test("^[1-9][0-9]*$"))'
step "the number of parts is that of pods" holds '(.spec.completions | tostring) ==
  (.spec.template.spec.containers[0].env[] | select(.name == "JOB_COMPLETIONS") | .value)'
step "one pod a node" holds '.spec.template | .metadata.labels ==
  (.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[]
    | select(.topologyKey == "kubernetes.io/hostname") | .labelSelector.matchLabels)'
exit "$status"
