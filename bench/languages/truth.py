"""Functions in Python, and C functions called through ctypes: `HS_WORK_LIBRARY` names their
library.
"""

import ctypes
import os

import hairspring

work = ctypes.CDLL(os.environ["HS_WORK_LIBRARY"])
nothing, chain, fill, sort = (
    work.work_nothing,
    work.work_chain_30000,
    work.work_fill,
    work.work_sort,
)
UNSORTED = [9, 2, 15, 0, 7, 12, 4, 11, 1, 14, 6, 3, 13, 8, 10, 5]


@hairspring.bench()
def py_call() -> None:
    pass


@hairspring.bench(name="py_sort_16", init=lambda: UNSORTED[:])
def py_sort_16(numbers: list[int]) -> None:
    numbers.sort()


@hairspring.bench(name="ctypes_empty")
def ctypes_empty() -> None:
    nothing()


@hairspring.bench(name="ctypes_chain_30000")
def ctypes_chain() -> None:
    chain()


if __name__ == "__main__":
    raise SystemExit(hairspring.main())
