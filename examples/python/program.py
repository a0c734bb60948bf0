"""A program with benchmarks: `python3 program.py --help` shows its command line, `--list` its
benchmarks.
"""

import bisect

import hairspring


@hairspring.bench(arguments=[10, 1000])
def find(size: int) -> int:
    return bisect.bisect(range(size), size // 3)


@hairspring.bench(init=lambda: [3, 1, 2] * 10, against={"sorted": lambda values: sorted(values)})
def sort(values: list[int]) -> None:
    values.sort()


if __name__ == "__main__":
    raise SystemExit(hairspring.main())
