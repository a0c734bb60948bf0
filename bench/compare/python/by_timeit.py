"""timeit's results, as its command computes them: the best of five runs of as many loops as take
0.2 s.

It has no init: the sort includes the copy of the list. `by_timeit.py SECONDS` takes loops of
another time.
"""

import sys
import timeit

from work import CASES, whole

print("tool,case,time_ns,low_ns,high_ns,note")
for name, case in CASES.items():
    timer = timeit.Timer(whole(case), case.setup)
    loops, seconds = timer.autorange()
    if len(sys.argv) > 1:
        loops = max(1, int(loops * float(sys.argv[1]) / seconds))
    best = min(timer.repeat(5, loops))
    print(f"timeit,{name},{best / loops * 1e9:.6g},,,best of 5 x {loops}")
