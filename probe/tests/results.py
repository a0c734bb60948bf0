"""Reads the JSON of a program with benchmarks on standard input. Arguments: the exact names of the
results; or `ratio LOW HIGH`: the time of the only result's body over that of its init lies between
these.
"""

import json
import sys


def main() -> int:
    """Prints what is wrong, if anything."""
    results = json.load(sys.stdin)["results"]
    if sys.argv[1] == "ratio":
        low, high = float(sys.argv[2]), float(sys.argv[3])
        times = [results[0]["components"][name]["time_ns"]["value"] for name in ("body", "init")]
        if low < times[0] / times[1] < high:
            return 0
        print(f"body {times[0]} ns, init {times[1]} ns: not between {low} and {high}")
        return 1
    names = [result["name"] for result in results]
    if names == sys.argv[1:]:
        return 0
    print(f"{names} where {sys.argv[1:]} are expected")
    return 1


if __name__ == "__main__":
    sys.exit(main())
