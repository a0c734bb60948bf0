"""The result of a measurement: times with their intervals, findings, and the raw observations."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from hairspring import _native
from hairspring._plot import Kind, plot

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    from matplotlib.axes import Axes

#: Letters that stand for the bits of a reading's flags in an observation file.
FLAGS = "sgbxcdu"


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval; ends that the interval does not have are `nan` or
    infinite.
    """

    value: float
    low: float
    high: float
    #: Confidence level, such as 0.95.
    level: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width, in the unit of the value."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        """`value [low, high]`."""
        return f"{self.value:.6g} [{self.low:.6g}, {self.high:.6g}]"


@dataclass(frozen=True)
class Component:
    """The time of one component of the code: `body`, `init`, or a combination that the counts
    cannot separate.
    """

    #: In nanoseconds, never clamped; `None` if the clock's rate is unknown.
    time_ns: Estimate | None
    #: In core cycles; `None` if no reference chain ran in the same rounds.
    cycles: Estimate | None
    #: In ticks of the clock, if its rate is unknown.
    ticks: Estimate | None
    #: Whether the time cannot be distinguished from zero: show the bound then, not the time.
    below_resolution: bool
    #: Below resolution: the upper bound of the time in nanoseconds.
    bound_ns: float | None
    #: Below resolution: the upper bound in ticks, if the clock's rate is unknown.
    bound_ticks: float | None
    #: Whether the time can be trusted: no finding of severity `untrusted` is about it, or about the
    #: whole result.
    trusted: bool = True
    #: Whether it only serves the others, such as an init: the verdict on the result does not depend
    #: on it.
    serves: bool = False


@dataclass(frozen=True)
class Finding:
    """A doubt about a measurement."""

    severity: Literal["note", "warning", "untrusted"]
    #: The kind of the finding, such as `non_linear`. There may be kinds that this version does not
    #: know.
    kind: str
    #: The finding in words, with its numbers.
    message: str
    #: What to do about it.
    remedy: str
    #: The component that it is about; `None` if it is about the whole result.
    component: str | None = None


@dataclass(frozen=True)
class Series:
    """The results for one piece of code."""

    name: str
    #: The code that was timed, if it is known.
    code: str | None
    #: Its components by name.
    components: Mapping[str, Component]
    #: The time that all rows have in common (reads of the clock, the call of a row); `None` if it
    #: is not determined.
    overhead: Component | None
    #: Doubts, the most serious first.
    findings: tuple[Finding, ...]
    #: Whether every time that is asked for can be trusted; an init that only serves does not count.
    trusted: bool = True

    @property
    def body(self) -> Component:
        """The first component: the code itself."""
        return next(iter(self.components.values()))

    @property
    def untrusted(self) -> bool:
        """Whether a finding says that a time that is asked for must not be trusted."""
        return not self.trusted


@dataclass(frozen=True)
class Comparison:
    """Two pieces of code, measured in the same rounds and compared by their bodies."""

    #: The one that is compared.
    a: str
    #: The one that it is compared with: the first of the result.
    b: str
    #: Time of `a` over time of `b`; `None` if it is unavailable.
    ratio: Estimate | None
    verdict: Literal["faster", "slower", "no_difference", "undecided"]


class Observations:
    """The raw readings, unaltered, including disturbed ones and those of the reference chains.

    The arrays are read-only, one entry for each reading, in the order in which they came.
    """

    def __init__(self, report: _native.Report) -> None:
        """The observations of a report."""
        #: Names of the components: the columns of `counts`.
        self.components: tuple[str, ...]
        #: Names of the series, by their number in `series`.
        self.series_names: tuple[str, ...]
        #: Unit of the readings: `ticks` or `time_ns`.
        self.unit: str
        #: Ticks per second of the clock, if they are known.
        self.rate_hz: float | None
        components, series_names, self.unit, self.rate_hz = report.origin()
        self.components, self.series_names = tuple(components), tuple(series_names)
        self._report = report

    @cached_property
    def _columns(self) -> list[bytes]:
        return self._report.columns()

    @cached_property
    def counts(self) -> "npt.NDArray[np.float64]":
        """How often each component ran between the two reads of the clock: readings x
        components.
        """
        import numpy as np

        return np.frombuffer(self._columns[0], dtype=np.float64).reshape(-1, len(self.components))

    @cached_property
    def ticks(self) -> "npt.NDArray[np.float64]":
        """The readings of the clock, in `unit`."""
        import numpy as np

        return np.frombuffer(self._columns[1], dtype=np.float64)

    @cached_property
    def round(self) -> "npt.NDArray[np.uint32]":
        """Number of the round: the readings of one round were taken together."""
        import numpy as np

        return np.frombuffer(self._columns[2], dtype=np.uint32)

    @cached_property
    def flags(self) -> "npt.NDArray[np.uint8]":
        """Remarks on the reading as bits.

        Doubts are 1 switched out, 2 gap, 4 backward, 8 excluded, 16 core shared; 32 is a denormal
        operand, 64 a denormal result, 128 that the code waited.
        """
        import numpy as np

        return np.frombuffer(self._columns[3], dtype=np.uint8)

    @cached_property
    def series(self) -> "npt.NDArray[np.uint16]":
        """Number of the series, which is one of `series_names`."""
        import numpy as np

        return np.frombuffer(self._columns[4], dtype=np.uint16)

    def __len__(self) -> int:
        """Number of readings."""
        return len(self.flags)

    def __repr__(self) -> str:
        """The number of readings and the names of the series."""
        return f"Observations({len(self)} readings of {', '.join(self.series_names)})"

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes an observation file (`spec/observations.md`), which `hairspring.fit` solves to
        the same result.
        """
        with open(path, "wb") as file:
            file.write(self._report.csv())

    def to_pandas(self) -> "pd.DataFrame":
        """A frame with the columns of an observation file: series, the components, round, flags,
        and the readings.
        """
        pandas = import_pandas()
        letters = [
            "".join(letter for bit, letter in enumerate(FLAGS) if bits >> bit & 1)
            for bits in range(256)
        ]
        columns: dict[str, Any] = {
            "series": pandas.Categorical.from_codes(self.series, list(self.series_names))
        }
        columns |= {name: self.counts[:, at] for at, name in enumerate(self.components)}
        columns |= {
            "round": self.round,
            "flags": [letters[bits] for bits in self.flags],
            self.unit: self.ticks,
        }
        frame: pd.DataFrame = pandas.DataFrame(columns)
        return frame


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a measurement or of a fit. `str` gives the report that the command prints."""

    _report: _native.Report

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._report.json())
        return document

    @cached_property
    def series(self) -> Mapping[str, Series]:
        """Every piece of code that was measured, or every series of the observations, by name."""
        return MappingProxyType(
            {entry["name"]: series_of(entry) for entry in self._document["results"]}
        )

    @property
    def first(self) -> Series:
        """The first piece of code, with which the others are compared."""
        return next(iter(self.series.values()))

    @property
    def name(self) -> str:
        """Name of the first piece of code."""
        return self.first.name

    @property
    def components(self) -> Mapping[str, Component]:
        """Components of the first piece of code by name."""
        return self.first.components

    @property
    def body(self) -> Component:
        """Time of the first piece of code."""
        return self.first.body

    @property
    def overhead(self) -> Component | None:
        """The time that all rows of the first piece of code have in common. The other times do
        not include it.
        """
        return self.first.overhead

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Doubts about the first piece of code, the most serious first."""
        return self.first.findings

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every further piece of code against the first."""
        entries = self._document["comparisons"]
        return tuple(
            Comparison(e["a"], e["b"], estimate_of(e["ratio"]), e["verdict"]) for e in entries
        )

    @property
    def rounds(self) -> int | None:
        """Number of rounds; `None` for a fit."""
        run = self._document["run"]
        return None if run is None else int(run["rounds"])

    @property
    def precise(self) -> bool:
        """Whether the requested precision was reached before the budget was spent."""
        return self._report.precise

    @cached_property
    def observations(self) -> Observations:
        """The raw readings."""
        return Observations(self._report)

    def to_dict(self) -> dict[str, Any]:
        """The document of the format hairspring/result/2 (`spec/result.md`)."""
        document: dict[str, Any] = json.loads(self._report.json())
        return document

    def to_json(self) -> str:
        """The document as text."""
        return self._report.json()

    def to_pandas(self) -> "pd.DataFrame":
        """A frame with one row for each component of each piece of code, and one for its
        overhead.
        """
        pandas = import_pandas()
        frame: pd.DataFrame = pandas.DataFrame(
            [line for series in self.series.values() for line in lines_of(series)]
        )
        return frame

    def to_markdown(self) -> str:
        """The result for a comment on a pull request: a table, and findings and machine folded."""
        return self._report.markdown()

    def svg(self, name: str | None = None) -> str:
        """A plot of the command's page as SVG, `line` and `residuals` for instance; without a name
        the first one. Raises `KeyError` with the names that there are.
        """
        plots = {plot: svg for plot, _, svg in self._report.plots()}
        chosen = next(iter(plots), None) if name is None else name
        if chosen not in plots:
            raise KeyError(f"there is no plot {name!r}: there are {', '.join(plots) or 'none'}")
        return plots[chosen]

    def plot(self, kind: Kind = "line", ax: "Axes | None" = None) -> "Axes":
        """Draws the rows with matplotlib, on `ax` or on a new figure; returns the axes.

        `kind`: `line` is the time of each row over its copies with the line that was fitted;
        `residuals` is how far the rows lie off it. With several components the predicted time
        takes the place of the copies. Bars are the standard deviation of the mean of a row; rows
        that were left out are hollow.

        Needs matplotlib: `pip install 'hairspring[plot]'`.
        """
        return plot(self._document, kind, ax)

    def __str__(self) -> str:
        """The report."""
        return self._report.text(False)

    def __repr__(self) -> str:
        """One line with the names and times of the bodies."""
        bodies = (f"{name}: {shown(series.body)}" for name, series in self.series.items())
        return f"Result({', '.join(bodies)})"

    def _repr_html_(self) -> str:
        """The result in a notebook: the table, and the plots of the command's page."""
        return self._report.html()

    def _repr_markdown_(self) -> str:
        """The result where a front end shows Markdown."""
        return self.to_markdown()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Prints the report in IPython and in notebooks."""
        printer.text("Result(...)" if cycle else str(self))


def shown(component: Component) -> str:
    """A time in a few characters."""
    if component.below_resolution:
        bound, unit = (
            (component.bound_ns, "ns")
            if component.bound_ns is not None
            else (component.bound_ticks, "ticks")
        )
        return f"below resolution (< {bound:.3g} {unit})"
    time, unit = (
        (component.time_ns, "ns") if component.time_ns is not None else (component.ticks, "ticks")
    )
    return "unknown" if time is None else f"{time.value:.6g} {unit} +- {time.half_width:.2g}"


# ---- from the document


def estimate_of(entry: dict[str, Any] | None) -> Estimate | None:
    """An estimate; an end that the interval does not have is infinite."""
    if entry is None:
        return None
    low, high = entry["low"], entry["high"]
    return Estimate(
        entry["value"],
        float("-inf") if low is None else low,
        float("inf") if high is None else high,
        entry["level"],
    )


def component_of(entry: dict[str, Any]) -> Component:
    """A component."""
    return Component(
        time_ns=estimate_of(entry.get("time_ns")),
        cycles=estimate_of(entry.get("cycles")),
        ticks=estimate_of(entry.get("ticks")),
        below_resolution=entry["below_resolution"],
        bound_ns=entry.get("bound_ns"),
        bound_ticks=entry.get("bound_ticks"),
        trusted=entry.get("trusted", True),
        serves=entry.get("serves", False),
    )


def series_of(entry: dict[str, Any]) -> Series:
    """A piece of code."""
    overhead = entry["overhead"]
    findings = tuple(
        Finding(e["severity"], e["kind"], e["message"], e["remedy"], e.get("component"))
        for e in entry["findings"]
    )
    components = MappingProxyType(
        {name: component_of(part) for name, part in entry["components"].items()}
    )
    common = None if overhead is None else component_of(overhead)
    return Series(entry["name"], entry["code"], components, common, findings, entry["trusted"])


def lines_of(series: Series) -> list[dict[str, Any]]:
    """A line of a frame for each component and for the overhead."""
    parts = dict(series.components) | (
        {"overhead": series.overhead} if series.overhead is not None else {}
    )
    return [
        {"name": series.name, "component": name} | columns_of(part) for name, part in parts.items()
    ]


def columns_of(component: Component) -> dict[str, Any]:
    """The columns of a component; unavailable ones are left out."""
    columns: dict[str, Any] = {}
    for unit, estimate in (
        ("time_ns", component.time_ns),
        ("ticks", component.ticks),
        ("cycles", component.cycles),
    ):
        if estimate is not None:
            columns |= {
                unit: estimate.value,
                f"{unit}_low": estimate.low,
                f"{unit}_high": estimate.high,
            }
    bounds = {"bound_ns": component.bound_ns, "bound_ticks": component.bound_ticks}
    columns |= {"below_resolution": component.below_resolution}
    return columns | {name: bound for name, bound in bounds.items() if bound is not None}


def import_pandas() -> Any:
    """Imports pandas, which the rest of the package does not need."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "to_pandas() needs pandas, which is not installed: pip install pandas"
        ) from error
    return pandas
