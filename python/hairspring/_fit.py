"""Solving observations from any source."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hairspring import _native
from hairspring._measure import as_text
from hairspring._result import FLAGS, Result

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

MOST_SERIES = 1_000
MOST_COMPONENTS = 10_000
MOST_ROUND = 1 << 30
#: Columns of a frame that are not counts.
RESERVED = ("series", "round", "flags")


class Columns(NamedTuple):
    """Observations as the bytes of arrays."""

    components: list[str]
    counts: bytes
    ticks: bytes
    rounds: bytes | None
    flags: bytes | None
    series_names: list[str]
    series: bytes
    time_ns: bool
    rate_hz: float | None


def fit(
    observations: "npt.ArrayLike | pd.DataFrame | str | os.PathLike[str]",
    *,
    components: Sequence[str] | None = None,
    ticks: str | None = None,
    rate_hz: float | None = None,
    confidence_level: float | str = 0.95,
    keep_all: bool = False,
) -> Result:
    """Solves observations for the time of each component: how often each ran, and the readings of
    the clock.

    `observations`: an array whose last column holds the readings and whose other columns hold the
    counts; or a DataFrame with a column for each component, one for the readings and, if they are
    known, `series` (names of systems of their own), `round` (whole numbers from 0) and `flags`
    (letters or bits); or the path of an observation file.

    `components`: names of the counts of an array, or the columns of a frame that are counts (else:
    all that are left).

    `ticks`: the column of a frame with the readings: `ticks` if it is there, else `time_ns`, which
    is in nanoseconds.

    `rate_hz`: ticks per second; without it the times are in ticks.

    `keep_all`: uses all rows; by default rows far off the line may be left out.

    Raises `ValueError` and `TypeError` for observations that are invalid or too few.

    >>> rows = [(1, 108), (2, 208), (3, 308), (1, 109), (2, 208), (3, 307)]
    >>> result = fit(rows, components=["copy"])
    >>> round(result.components["copy"].ticks.value, 1)
    99.5
    """
    level = as_text(confidence_level)
    if isinstance(observations, str | os.PathLike):
        if components is not None or ticks is not None or rate_hz is not None:
            raise TypeError(
                "a file says itself what its columns and its rate are: leave out components, "
                "ticks and rate_hz"
            )
        return Result(_native.fit_file(observations, level, keep_all))
    is_frame = hasattr(observations, "columns") and hasattr(observations, "loc")
    columns = (
        of_frame(observations, components, ticks, rate_hz)
        if is_frame
        else of_array(observations, components, ticks, rate_hz)
    )
    return Result(_native.fit_columns(columns, level, keep_all))


def of_array(
    array: Any, components: Sequence[str] | None, ticks: str | None, rate_hz: float | None
) -> Columns:
    """An array whose last column holds the readings."""
    table = numbers(array, "the observations")
    if table.ndim != 2 or table.shape[1] < 2 or table.shape[0] == 0:
        shape = " x ".join(map(str, table.shape)) or "a single number"
        raise ValueError(
            f"the observations are {shape}: expected rows of one or more counts and a reading"
        )
    width = table.shape[1] - 1
    names = default_names(width) if components is None else names_of(components)
    if len(names) != width:
        raise ValueError(
            f"{len(names)} names of components for {width} columns of counts (the last column is "
            "the readings)"
        )
    if ticks not in (None, "ticks", "time_ns"):
        raise ValueError(f"ticks={ticks!r}: the readings of an array are `ticks` or `time_ns`")
    series = bytes(2 * table.shape[0])
    counts, readings = table[:, :-1].tobytes(), table[:, -1].tobytes()
    return Columns(
        names, counts, readings, None, None, ["main"], series, ticks == "time_ns", rate_hz
    )


def of_frame(
    frame: Any, components: Sequence[str] | None, ticks: str | None, rate_hz: float | None
) -> Columns:
    """A frame with a column for each component and one for the readings."""
    import numpy as np

    names = [str(column) for column in frame.columns]
    if len(set(names)) != len(names):
        raise ValueError(f"two columns have the same name: {', '.join(names)}")
    readings = ticks or next((name for name in ("ticks", "time_ns") if name in names), "ticks")
    other_names = [name for name in names if name not in (*RESERVED, readings)]
    counted_names = other_names if components is None else names_of(components)
    missing_names = [name for name in (readings, *counted_names) if name not in names]
    if missing_names or not counted_names:
        raise ValueError(
            f"the frame has no column `{', '.join(missing_names) or 'of counts'}`; it has "
            f"{', '.join(names) or 'none'}"
        )
    if len(frame) == 0:
        raise ValueError("the frame has no rows: it needs at least two with different counts")
    column = dict(zip(names, (frame.iloc[:, at] for at in range(len(names))), strict=True))
    counts = np.column_stack([numbers(column[name], f"column `{name}`") for name in counted_names])
    series_names, series = series_of(column.get("series"), len(frame))
    return Columns(
        components=counted_names,
        counts=np.ascontiguousarray(counts).tobytes(),
        ticks=numbers(column[readings], f"column `{readings}`").tobytes(),
        rounds=whole(column["round"], "round", MOST_ROUND).astype(np.uint32).tobytes()
        if "round" in column
        else None,
        flags=flags_of(column["flags"]) if "flags" in column else None,
        series_names=series_names,
        series=series,
        time_ns=readings == "time_ns",
        rate_hz=rate_hz,
    )


def numbers(values: Any, place: str) -> "npt.NDArray[np.float64]":
    """An array of floats; `TypeError` for text, objects and complex numbers."""
    import numpy as np

    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{place}: the rows are not of one length") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{place}: expected numbers, not {array.dtype}")
    return np.asarray(array, dtype=np.float64, order="C")


def whole(values: Any, column_name: str, bound: int) -> "npt.NDArray[np.float64]":
    """Whole numbers from 0 to below `bound`."""
    import numpy as np

    array = numbers(values, f"column `{column_name}`")
    wrong = ~((array >= 0) & (array < bound) & (array == np.floor(array)))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"column `{column_name}`, row {at}: {array[at]} is not a whole number from 0 to below "
            f"{bound}"
        )
    return array


def flags_of(values: Any) -> bytes:
    """Flags as bits, from letters or from bits."""
    entries = list(values)
    if all(isinstance(entry, str) for entry in entries):
        wrong = {letter for entry in entries for letter in entry if letter not in FLAGS}
        if wrong:
            raise ValueError(
                f"column `flags`: `{sorted(wrong)[0]}` is not one of the flags {', '.join(FLAGS)}"
            )
        return bytes(sum(1 << FLAGS.index(letter) for letter in set(entry)) for entry in entries)
    return bytes(int(bits) for bits in whole(values, "flags", 1 << len(FLAGS)))


def series_of(values: Any, length: int) -> tuple[list[str], bytes]:
    """The names of the series in order of appearance, and the index of each row's series."""
    import numpy as np

    if values is None:
        return ["main"], bytes(2 * length)
    places: dict[str, int] = {}
    series = [places.setdefault(str(name), len(places)) for name in values]
    if len(places) > MOST_SERIES:
        raise ValueError(f"{len(places)} series: at most {MOST_SERIES} are allowed")
    return list(places), np.array(series, dtype=np.uint16).tobytes()


def names_of(components: Iterable[str]) -> list[str]:
    """Checked names of components: not empty, and distinct."""
    if isinstance(components, str):
        raise TypeError(f"components is a list of names, not the text {components!r}")
    names = list(components)
    seen_names: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(
                f"{name!r} cannot be the name of a component: use a text that is not empty"
            )
        if name in seen_names:
            raise ValueError(f"component {name!r} appears twice")
        seen_names.add(name)
    return names


def default_names(width: int) -> list[str]:
    """`body`, or `c1` and so on for several components."""
    if width > MOST_COMPONENTS:
        raise ValueError(f"{width} components: at most {MOST_COMPONENTS} are allowed")
    return ["body"] if width == 1 else [f"c{at + 1}" for at in range(width)]
