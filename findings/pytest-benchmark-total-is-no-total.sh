#!/usr/bin/env bash
# pytest-benchmark 5.3.1: `total` in its JSON is the sum of the mean times of an iteration in each
# round, not the time that has passed. 4 rounds of 50 iterations of exactly 0.5 s (a clock of our
# own) take 100 s; the file says `total` 2.0. So `total / (rounds * iterations)` is too short by a
# factor of `iterations`, and `total` does not compare between runs with other numbers of
# iterations. Values in `data` are times of one iteration, too. Behind the rounds the function is
# called once more for its result, so the clock ends at 100.5 s. Seen: rounds 4, iterations 50,
# total 2.0, data of 0.5. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    pytest==9.0.2 pytest-benchmark==5.3.1
cd "$folder"
cat > test_total.py <<'PY'
seconds = 0.0
def timer():
    return seconds
def work():
    global seconds
    seconds += 0.5
def test_work(benchmark):
    benchmark.pedantic(work, rounds=4, iterations=50)
    assert seconds == 100.5
PY
"$folder/venv/bin/python" -m pytest -q -p no:cacheprovider test_total.py \
    --benchmark-timer=test_total.timer --benchmark-json out.json > pytest.log ||
    { cat pytest.log; exit 1; }
"$folder/venv/bin/python" - <<'PY'
import json
import sys
stats = json.load(open("out.json"))["benchmarks"][0]["stats"]
seen = {key: stats[key] for key in ("rounds", "iterations", "total", "data")}
print("100 s in the rounds;", seen)
if seen != {"rounds": 4, "iterations": 50, "total": 2.0, "data": [0.5] * 4}:
    sys.exit("the behaviour has changed")
PY
