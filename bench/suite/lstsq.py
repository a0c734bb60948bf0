"""numpy's part of the benchmark `fit`.

lstsq.py make ROWS COMPONENTS STEM   writes STEM.csv for hairspring and STEM.npy for numpy, from the
                                     same numbers
lstsq.py solve STEM                  solves STEM.npy and prints times and solution as JSON
"""

import json
import sys
import time

import numpy as np


def make(rows: int, components: int, stem: str) -> None:
    """Counts 0 to 20, times 2 to 300 ticks, overhead 52, noise of 5: uniform, so that no row is
    an outlier.
    """
    random = np.random.default_rng(1)
    counts = random.integers(0, 21, (rows, components))
    times = random.uniform(2, 300, components)
    ticks = counts @ times + 52 + random.uniform(-9, 9, rows)
    header = ",".join([*(f"b{j}" for j in range(components)), "ticks"])
    # The text is rounded, so both sides get the rounded readings.
    ticks = np.round(ticks, 3)
    np.savetxt(
        stem + ".csv",
        np.column_stack([counts, ticks]),
        ["%d"] * components + ["%.3f"],
        ",",
        header=header,
        comments="",
    )
    np.save(stem + ".npy", np.column_stack([counts, np.ones(rows), ticks]))


def solve(stem: str) -> None:
    """By lstsq (an SVD), and by the normal equations."""
    data = np.load(stem + ".npy")
    matrix, ticks = np.ascontiguousarray(data[:, :-1]), data[:, -1].copy()
    begin = time.perf_counter()
    unknowns = np.linalg.lstsq(matrix, ticks, rcond=None)[0]
    lstsq = time.perf_counter() - begin
    begin = time.perf_counter()
    np.linalg.solve(matrix.T @ matrix, matrix.T @ ticks)
    normal = time.perf_counter() - begin
    print(
        json.dumps(
            {
                "lstsq_s": lstsq,
                "normal_s": normal,
                "unknowns": unknowns.tolist(),
                "numpy": np.__version__,
            }
        )
    )


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        solve(sys.argv[2])
