"""Hairspring, a precision timing instrument for software, in Python.

>>> import hairspring
>>> result = hairspring.time("x = sorted(data)", setup="data = [3, 1, 2]", budget="50ms")
>>> result.body.time_ns.low < result.body.time_ns.value < result.body.time_ns.high
True

`time` measures a statement or a callable, `fit` solves observations from any source, `bench` and
`main` make a file a program with benchmarks, `python -m hairspring time` is the command line, and
pytest has the fixture `hairspring_time`. `%load_ext hairspring` gives IPython and Jupyter the
magics `%hairspring` and `%%hairspring`.
"""

from typing import TYPE_CHECKING

from hairspring._fit import fit
from hairspring._measure import time
from hairspring._native import OptionError, __version__
from hairspring._program import bench, main
from hairspring._result import (
    Comparison,
    Component,
    Estimate,
    Finding,
    Observations,
    Result,
    Series,
)

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Registers the magics: IPython calls this for `%load_ext hairspring`."""
    from hairspring._magics import HairspringMagics

    shell.register_magics(HairspringMagics)


__all__ = [
    "Comparison",
    "Component",
    "Estimate",
    "Finding",
    "Observations",
    "OptionError",
    "Result",
    "Series",
    "__version__",
    "bench",
    "fit",
    "load_ipython_extension",
    "main",
    "time",
]
