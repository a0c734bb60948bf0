"""The remedies of findings name arguments that the functions of the package have."""

import inspect
import re
from collections.abc import Callable

import hairspring
from hairspring import _native

FUNCTIONS: dict[str, Callable[..., object]] = {"time": hairspring.time, "fit": hairspring.fit}


def test_remedies_name_arguments_that_the_function_has() -> None:
    seen_remedies = 0
    for function, texts in _native.remedy_words():
        parameters = inspect.signature(FUNCTIONS[function]).parameters
        for text in texts:
            assert "--" not in text, text
            for name in re.findall("`([^`]+)`", text):
                assert name in parameters, f"{function} has no argument {name}: {text}"
                seen_remedies += 1
    assert seen_remedies > 5


def test_a_remedy_of_fit_names_its_argument() -> None:
    ticks = {9: 5000.0}
    table = [
        (k, ticks.get(k, 100.0 * k) + (7 * r + 13 * k) % 5) for k in range(1, 17) for r in range(8)
    ]
    (left_out,) = [
        finding for finding in hairspring.fit(table).findings if finding.kind == "rows_left_out"
    ]
    assert "keep_all" in left_out.remedy
