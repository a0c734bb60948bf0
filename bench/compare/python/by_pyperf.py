"""Statements by pyperf, in a script as its documentation has one. It has no init: the sort
includes the copy.
"""

import pyperf  # type: ignore[import-untyped]
from work import CASES, whole

runner = pyperf.Runner()
for name, case in CASES.items():
    runner.timeit(name, whole(case), setup=case.setup)
