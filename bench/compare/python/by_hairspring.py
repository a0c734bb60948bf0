"""Statements by Hairspring, each with its init: `by_hairspring.py CPU [BUDGET]`."""

import sys

import hairspring
from work import CASES

cpu, budget = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "500ms"
print("tool,case,time_ns,low_ns,high_ns,note")
for name, case in CASES.items():
    result = hairspring.time(
        case.statement, init=case.init or None, setup=case.setup, cpu=cpu, budget=budget
    )
    body = result.body
    time = body.time_ns
    figures = f"{time.value:.6g},{time.low:.6g},{time.high:.6g}" if time else ",,"
    print(f"hairspring,{name},{figures},{'' if body.trusted else 'untrusted'}")
