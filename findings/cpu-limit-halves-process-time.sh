#!/usr/bin/env bash
# pyperf 2.8.1, Python 3, Linux: under a limit on processor time (`ulimit -t`, RLIMIT_CPU), which
# never comes near, time.process_time() takes half as long as without one. With a limit the kernel
# keeps a running sum of the times of all threads (posix-cpu-timers), and
# clock_gettime(CLOCK_PROCESS_CPUTIME_ID) reads that sum; without one it adds the times of the
# threads up, and locks the run queue. So batch systems and sandboxes that set such a limit change
# what code with process-time clocks costs. time.perf_counter() stays as it is. Seen on Linux 6.18,
# AMD family 25: 579 ns without, 312 ns under the limit, ratio 0.54; perf_counter ratio 1.00. Fails
# if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyperf==2.8.1
cat > "$folder/ratio.py" <<'PY'
import json, subprocess, sys
def mean(limit, statement):
    path = sys.argv[1] + "/run.json"
    words = f"-m pyperf timeit --quiet --fast -s 'import time' -o {path} '{statement}'"
    subprocess.run(["bash", "-c", f"rm -f {path}; ulimit -t {limit}; exec {sys.executable} {words}"], check=True, capture_output=True)
    runs = json.load(open(path))["benchmarks"][0]["runs"]
    return min(value for run in runs for value in run.get("values", []))
for name in ("time.process_time()", "time.perf_counter()"):
    pairs = [(mean("unlimited", name), mean(100000, name)) for _ in range(2)]
    without, under = (min(pair[at] for pair in pairs) for at in (0, 1))
    print(f"{name}: {1e9 * without:.0f} ns without, {1e9 * under:.0f} ns under a limit, ratio {under / without:.2f}")
    good = under / without < 0.75 if "process" in name else 0.85 < under / without < 1.15
    if not good:
        sys.exit("the behaviour has changed")
PY
"$folder/venv/bin/python" "$folder/ratio.py" "$folder"
