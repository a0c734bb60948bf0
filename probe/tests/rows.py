"""Compares the rows that a language has with those of the engine.

Argument: the table, spec/rows.json. On standard input a line `KIND BODIES INITS ORDER` for each row
of the language.
"""

import json
import sys
from pathlib import Path


def main() -> int:
    """Prints the kinds of benchmark that have other rows."""
    table = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found_rows: dict[str, list[list[int]]] = {}
    for line in sys.stdin:
        kind, *numbers = line.split()
        found_rows.setdefault(kind, []).append([int(number) for number in numbers])
    missing = {"line", "init"} - found_rows.keys()
    wrong = [kind for kind, rows in found_rows.items() if rows != table[kind]]
    for kind in wrong:
        print(f"{kind}: {found_rows[kind]} where {table[kind]} are expected")
    for kind in missing:
        print(f"{kind}: no rows")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
