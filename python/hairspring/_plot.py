"""Plots of a result with matplotlib, which the rest of the package does not need."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["line", "residuals"]
KINDS: tuple[Kind, ...] = ("line", "residuals")

#: Colours that colour-blind people can tell apart (Okabe and Ito), and a mark for each, so that
#: nothing is said by colour alone. Black is for what was left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKS = ("o", "s", "^", "D", "v", "P")

#: Series that are drawn; a legend with more of them cannot be read.
MOST_SERIES = 12


def plot(document: Mapping[str, Any], kind: Kind, axes: "Axes | None") -> "Axes":
    """Draws the rows of the series of a document."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r}: there are {', '.join(map(repr, KINDS))}")
    shown_rows = list(series_with_rows(document))
    if not shown_rows:
        raise ValueError(
            "the document lists no rows, so that there is nothing to draw: it is of another tool, "
            "or has too many of them"
        )
    axes = new_axes() if axes is None else axes
    for at, series in enumerate(shown_rows[:MOST_SERIES]):
        style = {"color": COLOURS[at % len(COLOURS)], "marker": MARKS[at % len(MARKS)]}
        (draw_line if kind == "line" else draw_residuals)(axes, series, style)
    if len(shown_rows) > MOST_SERIES:
        axes.set_title(f"the first {MOST_SERIES} of {len(shown_rows)} series", fontsize="small")
    label(axes, kind, shown_rows)
    return axes


def new_axes() -> "Axes":
    """The axes of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "plot() needs matplotlib, which is not installed: pip install 'hairspring[plot]'"
        ) from error
    return pyplot.subplots(layout="constrained")[1]


class Rows:
    """The rows of a series, as columns of numbers."""

    def __init__(self, series: Mapping[str, Any]) -> None:
        """`series` is an entry of `results` in the document."""
        self.name: str = series["name"]
        rows = series["fit"]["rows_detail"]
        self.unit = "ns" if rows[0].get("location_ns") is not None else "ticks"
        self.columns: list[str] = series["fit"]["columns"]
        self.counts: list[list[float]] = [row["counts"] for row in rows]
        self.used: list[bool] = [row["left_out"] is None for row in rows]
        self.location = [number(row, f"location_{self.unit}") for row in rows]
        self.residual = [number(row, f"residual_{self.unit}") for row in rows]
        self.sd_of_mean = [
            number(row, f"sd_{self.unit}") / max(1, row["used"]) ** 0.5 for row in rows
        ]

    @property
    def is_line(self) -> bool:
        """Whether one count alone differs between the rows."""
        return len(self.columns) == 1

    @property
    def predicted(self) -> list[float]:
        """The times that the solution gives the rows."""
        return [time - rest for time, rest in zip(self.location, self.residual, strict=True)]

    @property
    def abscissa(self) -> list[float]:
        """The count where there is one, else the predicted time."""
        return [row[0] for row in self.counts] if self.is_line else self.predicted

    def chosen(self, values: list[float], *, used: bool) -> list[float]:
        """The values of the rows that were used, or of the others."""
        return [value for value, own in zip(values, self.used, strict=True) if own is used]


def number(row: Mapping[str, Any], key: str) -> float:
    """A number of a row; one that is not available is not drawn."""
    value = row.get(key)
    return float("nan") if value is None else float(value)


def series_with_rows(document: Mapping[str, Any]) -> Iterator[Rows]:
    """The series whose rows the document lists."""
    for series in document["results"]:
        if series["fit"].get("rows_detail"):
            yield Rows(series)


def draw_line(axes: "Axes", rows: Rows, style: dict[str, str]) -> None:
    """The rows, and the line that the solution is."""
    points(axes, rows, rows.location, style)
    ends = sorted(zip(rows.abscissa, rows.predicted, strict=True))
    axes.plot(*zip(ends[0], ends[-1], strict=True), color=style["color"], linewidth=1)


def draw_residuals(axes: "Axes", rows: Rows, style: dict[str, str]) -> None:
    """What the rows differ from the line."""
    axes.axhline(0, color="0.5", linewidth=1)
    points(axes, rows, rows.residual, style)


def points(axes: "Axes", rows: Rows, values: list[float], style: dict[str, str]) -> None:
    """A mark for each row, with the standard deviation of its mean; rows that were left out are
    hollow and black.
    """
    looks: dict[str, Any] = {
        "linestyle": "none",
        "markersize": 5,
        "capsize": 2,
        "label": plain(rows.name),
    } | style
    of = {
        used: [rows.chosen(part, used=used) for part in (rows.abscissa, values, rows.sd_of_mean)]
        for used in (True, False)
    }
    axes.errorbar(of[True][0], of[True][1], yerr=of[True][2], **looks)
    if of[False][0]:
        hollow: dict[str, Any] = {"color": "black", "markerfacecolor": "none", "label": "left out"}
        axes.errorbar(of[False][0], of[False][1], yerr=of[False][2], **(looks | hollow))


def plain(name: str) -> str:
    """A name as it is: matplotlib takes text between two `$` as a formula, and hides names that
    begin with an underscore.
    """
    shortened = name if len(name) <= 60 else f"{name[:57]}..."
    escaped = shortened.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def label(axes: "Axes", kind: Kind, shown_rows: list[Rows]) -> None:
    """Labels of the axes with their units, and the legend."""
    unit, first = shown_rows[0].unit, shown_rows[0]
    axes.set_xlabel(
        f"copies of {plain(first.columns[0])}" if first.is_line else f"predicted time / {unit}"
    )
    axes.set_ylabel(f"time of a row / {unit}" if kind == "line" else f"residual / {unit}")
    axes.legend(fontsize="small")
