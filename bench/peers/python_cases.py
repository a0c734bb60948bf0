"""Statements in Python, as their users write them for timeit and pyperf: case, statement, setup."""

UNSORTED = "[9, 2, 15, 0, 7, 12, 4, 11, 1, 14, 6, 3, 13, 8, 10, 5]"
# Neither tool has an init: the time of the sort includes the copy.
STATEMENTS: dict[str, tuple[str, str]] = {
    "py_pass": ("pass", "pass"),
    "py_assign": ("a = b", "b = 1"),
    "py_call": ("f()", "def f(): pass"),
    "py_sort_16": ("c = u[:]; c.sort()", f"u = {UNSORTED}"),
}
