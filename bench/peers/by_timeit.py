"""timeit's results, as its command computes them: the best of five runs of as many loops as take
0.2 s.
"""

import timeit

from python_cases import STATEMENTS

print("tool,case,time_ns,low_ns,high_ns,note")
for case, (statement, setup) in STATEMENTS.items():
    timer = timeit.Timer(statement, setup)
    loops, _ = timer.autorange()
    best = min(timer.repeat(5, loops))
    print(f"timeit,{case},{best / loops * 1e9:.6g},,,best of 5 x {loops}")
