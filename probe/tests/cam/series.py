"""Checks that a result on standard input has all series of the cam design problem, each with its
components.
"""

import json
import sys

SERIES = {"single": {"first", "next"}, "loop": {"evaluation"}, "loop cpu_time": {"evaluation"}}

found = {series["name"]: set(series["components"]) for series in json.load(sys.stdin)["results"]}
wanted = {
    f"{function} {name}": parts
    for function in ("direct", "GCA", "TANA-3")
    for name, parts in SERIES.items()
}
assert found == wanted, found
