"""Plots with matplotlib, and Markdown."""

import builtins
import re
from typing import Any

import matplotlib
import numpy as np
import pytest
from markdown_it import MarkdownIt

import hairspring

matplotlib.use("agg")

COPIES = np.array([1, 2, 4, 8, 16, 32, 64, 128], dtype=float)


def line(name: str = "copy") -> hairspring.Result:
    """The fit of rows that lie on a line, but for their noise."""
    noise = np.random.default_rng(7).normal(0, 1, (40, len(COPIES)))
    counts = np.tile(COPIES, 40)
    return hairspring.fit(
        np.column_stack([counts, 12 * counts + 60 + noise.ravel()]), components=[name]
    )


def test_the_line_has_its_rows_and_its_labels() -> None:
    axes = line().plot()
    (drawn,) = [line for line in axes.get_lines() if np.size(line.get_xdata()) == 2]
    slope = np.diff(np.asarray(drawn.get_ydata())) / np.diff(np.asarray(drawn.get_xdata()))
    assert 11.9 < float(slope[0]) < 12.1
    assert axes.get_xlabel() == "copies of copy"
    assert axes.get_ylabel() == "time of a row / ticks"


def test_residuals_go_on_the_axes_that_are_given() -> None:
    from matplotlib.figure import Figure

    given = Figure().add_subplot()
    axes = line().plot("residuals", ax=given)
    assert axes is given and axes.get_ylabel() == "residual / ticks"
    heights = [np.abs(np.asarray(found.get_ydata(), dtype=float)) for found in axes.get_lines()]
    assert max(float(height.max()) for height in heights) < 1


def test_several_components_are_drawn_over_the_predicted_time() -> None:
    noise = np.random.default_rng(7).normal(0, 1, 64)
    a, b = np.tile([1, 2, 3, 4], 16), np.repeat([1, 5, 2, 7], 16)
    result = hairspring.fit(np.column_stack([a, b, 50 * a + 20 * b + 30 + noise]))
    assert result.plot().get_xlabel() == "predicted time / ticks"


def test_names_are_no_formulas() -> None:
    axes = line(r"$\frac$ <b>").plot()
    axes.figure.canvas.draw()
    assert axes.get_xlabel() == r"copies of \$\frac\$ <b>"


def test_the_plots_of_the_page_are_svg_by_name() -> None:
    result = line("<script>")
    assert result.svg().startswith("<svg") and result.svg("residuals") != result.svg("line")
    budget = result.svg("budget")
    assert "<script>" not in budget and "script&#62;" in budget
    with pytest.raises(KeyError, match="there is no plot 'pie': there are .*line"):
        result.svg("pie")


def test_a_notebook_gets_a_table_and_the_plots_of_the_page() -> None:
    page = line("<script>alert(1)</script>")._repr_html_()
    assert "<table>" in page and page.count("<svg") >= 2 and "<details>" in page
    assert "<script" not in page and "@media" not in page
    assert len(page) < 500_000


def test_another_kind_is_named() -> None:
    kind: Any = "pie"
    with pytest.raises(ValueError, match="kind='pie': there are 'line', 'residuals'"):
        line().plot(kind)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install 'hairspring\[plot\]'"):
        line().plot()


def test_markdown_renders_as_a_table_and_shows_names_as_they_are() -> None:
    page = MarkdownIt("gfm-like", {"linkify": False}).render(line("a|b @all").to_markdown())
    assert page.count("<table>") == 1
    assert re.search(r"<th[^>]*>95 % interval</th>", page)
    assert "<details>" in page and "@all" not in re.sub(r"<code>.*?</code>", "", page)
