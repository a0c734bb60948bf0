"""Checks that a result on standard input has all series of the cam design problem, each with its
components.
"""

import json
import sys

SERIES = {"single": {"first", "next"}, "loop": {"evaluation"}, "loop cpu_time": {"evaluation"}}

found_series = {
    series["name"]: set(series["components"]) for series in json.load(sys.stdin)["results"]
}
wanted_series = {
    f"{function} {name}": parts
    for function in ("direct", "GCA", "TANA-3")
    for name, parts in SERIES.items()
}
assert found_series == wanted_series, found_series
