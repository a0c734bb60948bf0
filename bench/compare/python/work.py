"""Ordinary code that people time, as statements: case, statement, init (made anew before each
statement), setup.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SETS, COUNT = 256, 100


class Work(NamedTuple):
    """A piece of code, with what comes before each run of it and before all."""

    statement: str
    init: str
    setup: str


def numbers() -> Iterator[list[int]]:
    """Lists of numbers in no order, in turn: states of a linear congruential generator."""
    state = 1
    made: list[list[int]] = []
    for _ in range(SETS):
        row = []
        for _ in range(COUNT):
            state = (state * 1664525 + 1013904223) % 2**32
            row.append(state >> 8)
        made.append(row)
    return itertools.cycle(made)


def data(count: int) -> bytes:
    """Bytes to hash and to copy."""
    return bytes(at * 31 % 251 for at in range(count))


def listed() -> str:
    """40 numbers, separated by commas."""
    return ",".join(str(at * 7919 % 10000 + 1000) for at in range(40))


def document() -> str:
    """The document that all languages read."""
    text = (Path(__file__).parent.parent / "document.json").read_text()
    assert json.loads(text)["items"], "the document has no items"
    return text


CASES: dict[str, Work] = {
    "sort_100": Work("x.sort()", "x = next(lists)[:]", "import work; lists = work.numbers()"),
    "hash_1k": Work(
        "sha256(kilobyte).digest()",
        "",
        "import work; from hashlib import sha256; kilobyte = work.data(1024)",
    ),
    "parse_list": Work("sum(map(int, text.split(',')))", "", "import work; text = work.listed()"),
    "memcpy_4k": Work(
        "to[:] = source",
        "",
        "import work; source = work.data(4096); to = memoryview(bytearray(4096))",
    ),
    "memcpy_64k": Work(
        "to[:] = source",
        "",
        "import work; source = work.data(65536); to = memoryview(bytearray(65536))",
    ),
    "json_500": Work(
        "loads(text)", "", "import work; from json import loads; text = work.document()"
    ),
}


def whole(case: Work) -> str:
    """The statement behind its init, for tools that have no init."""
    return f"{case.init}; {case.statement}" if case.init else case.statement
