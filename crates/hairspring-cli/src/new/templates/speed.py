"""Benchmarks: `python3 benchmarks/NAME.py`, or `hairspring run benchmarks/NAME.py` for several
processes in one interval. Put your own functions in the place of these.
"""

import bisect

import hairspring


@hairspring.bench(arguments=[10, 1000])
def find(size: int) -> int:
    return bisect.bisect(range(size), size // 3)


@hairspring.bench(init=lambda: [3, 1, 2] * 10)
def sort(values: list[int]) -> None:
    values.sort()


if __name__ == "__main__":
    raise SystemExit(hairspring.main())
