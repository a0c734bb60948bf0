"""pyperf's results, from its command `timeit` with fewer processes than its default: the mean
over all values.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from python_cases import STATEMENTS

print("tool,case,time_ns,low_ns,high_ns,note")
for case, (statement, setup) in STATEMENTS.items():
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result.json"
        command = [
            sys.executable,
            "-m",
            "pyperf",
            "timeit",
            "--quiet",
            "--processes=3",
            "-o",
            str(output),
            "-s",
            setup,
        ]
        subprocess.run([*command, statement], check=True, stdout=sys.stderr)
        runs = json.loads(output.read_text())["benchmarks"][0]["runs"]
    values = [value for run in runs for value in run.get("values", [])]
    print(
        f"pyperf,{case},{statistics.fmean(values) * 1e9:.6g},,,mean of {len(values)} values of 3 "
        "processes"
    )
