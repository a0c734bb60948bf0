"""Ordinary code in Python, for separate runs of the same program."""

import json
import re

import hairspring

NUMBERS = [(n * 7919) % 64 for n in range(64)]
NAMED = {f"name {n}": n for n in range(64)}
DOCUMENT = {"numbers": NUMBERS[:8], "text": "quick brown fox", "value": 2.71828}
PATTERN = re.compile(r"(\w+)@(\w+)\.org")


@hairspring.bench(name="python_sorted")
def ordered() -> list[int]:
    return sorted(NUMBERS)


@hairspring.bench(name="python_dict")
def looked_up() -> int:
    return sum(NAMED[f"name {n}"] for n in range(8))


@hairspring.bench(name="python_json")
def dumped() -> str:
    return json.dumps(DOCUMENT)


@hairspring.bench(name="python_regex")
def searched() -> bool:
    return PATTERN.search("written by somebody@example.org today") is not None


if __name__ == "__main__":
    raise SystemExit(hairspring.main())
