"""Compares the module of pages with the command: the same digits, not much slower.

    python3 tests/wasm/compare.py HAIRSPRING ENGINE MODULE FOLDER [--speed | --large]

Without an option: the vectors, tables of the corpus, example files, files of tools, and the intact
and damaged files of the fuzzers are read by both. Their documents must be equal but for the
identity and the remedies, which name options of the command; so must their errors. --speed solves
one large table with both in turn. --large reads a table of 100 MB in the module.
"""

import argparse
import json
import lzma
import math
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# By this factor the module may be slower than the command on the same table in the same run.
MOST_SLOWER = 3.0
# The bounds for a table of 100 MB in the module.
MOST_MEMORY = 600
Json = dict[str, "Json"] | list["Json"] | str | float | int | bool | None


def tables(folder: Path) -> list[Path]:
    """Vectors, examples, and every fourth table of the corpus, unpacked into a folder."""
    found = sorted((ROOT / "spec" / "vectors").glob("*.csv"))
    found = [file for file in found if file.name != "expected.csv"]
    for packed in sorted((ROOT / "corpus").glob("*/*.csv.xz"))[::4]:
        file = folder / f"{packed.parent.name}.{packed.name.removesuffix('.xz')}"
        file.write_bytes(lzma.decompress(packed.read_bytes()))
        found.append(file)
    return found


def page(arguments: argparse.Namespace, how: str, files: list[Path]) -> list[list[str]]:
    """Has the module write a document for each file; seconds and megabytes of each."""
    script = ROOT / "tests" / "wasm" / "solve.js"
    command = ["node", script, arguments.engine, arguments.module, arguments.folder, how, "{}"]
    done = subprocess.run([*command, *files], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"the module failed: {done.stderr}")
    return [line.split() for line in done.stdout.splitlines()]


def command(arguments: argparse.Namespace, verb: list[str], file: Path) -> str:
    """The document of the command, or its error."""
    line = [arguments.hairspring, *verb, str(file), "--json"]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    reason = done.stderr.strip().splitlines()[-1]
    return "error: " + re.sub(r"^hairspring: (error: )?", "", reason).removeprefix(f"{file}: ")


def plain(value: Json) -> Json:
    """The value without remedies and identity."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k not in ("remedy", "identity")}
        return {key: plain(one) for key, one in kept.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def differences(one: Json, other: Json, path: str = "") -> list[str]:
    """Paths at which two documents differ, with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(one.keys() | other.keys())
        pairs = [(f"{path}.{key}", one.get(key), other.get(key)) for key in keys]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(f"{path}[{at}]", *pair) for at, pair in enumerate(zip(one, other, strict=True))]
    else:
        return [] if one == other else [f"{path}: {one} in the page, {other} by the command"]
    return [line for name, a, b in pairs for line in differences(a, b, name)]


def sentence(text: str) -> str:
    """An error without its advice, which names what the command or the page has."""
    return re.sub(r": (add rows|send frames) .*", "", text.strip())


def compared(arguments: argparse.Namespace, verb: list[str], how: str, files: list[Path]) -> int:
    """Compares the documents of files; the number of those that differ."""
    page(arguments, how, files)
    failed = 0
    for file in files:
        found = (arguments.folder / f"{file.name}.json").read_text()
        expected = command(arguments, verb, file)
        if found.startswith("error: ") or expected.startswith("error: "):
            lines = differences(sentence(found), sentence(expected))
        else:
            lines = differences(plain(json.loads(found)), plain(json.loads(expected)))
        failed += bool(lines)
        for line in lines[:5]:
            print(f"{file.name}{line}")
    print(f"{' '.join(verb)}: {len(files) - failed} of {len(files)} files have the same digits")
    return failed


def same(arguments: argparse.Namespace) -> int:
    """The module and the command on all files."""
    cases = ROOT / "crates" / "sources" / "import" / "tests" / "cases"
    tools = [cases / name for name in ("criterion_drift.json", "google-benchmark-1.8.json")]
    examples = ROOT / "examples" / "files"
    failed = compared(arguments, ["fit"], "{}", tables(arguments.folder))
    failed += compared(arguments, ["fit"], "{}", [*tools, examples / "sample.json"])
    failed += compared(arguments, ["capture"], "{}", [examples / "pin.vcd"])
    fuzzed = ROOT / "fuzz" / "corpus"
    damaged = sorted((fuzzed / "observations").iterdir())
    failed += compared(
        arguments, ["fit", "--format", "observations"], '{"kind": "observations"}', damaged
    )
    for kind in ("vcd", "fst", "sound", "sigrok", "instrument", "csv", "compressed"):
        recordings = sorted((fuzzed / kind).iterdir())
        failed += compared(arguments, ["capture"], '{"kind": "recording"}', recordings)
    return failed


def written(file: Path, most: int) -> int:
    """Writes a table of about so many bytes; the number of its readings."""
    random_ = random.Random(1)
    lines = ["# rate_hz: 1e9\nround,body,ticks\n"]
    size, round_ = 0, 0
    with file.open("w") as out:
        out.write(lines[0])
        while size < most:
            noise = [random_.gauss(0, 2) for _ in range(8)]
            text = "".join(
                f"{round_},{k},{math.floor(100 + 41.3 * k + noise[k - 1])}\n" for k in range(1, 9)
            )
            size, round_ = size + len(text), round_ + 1
            out.write(text)
    return round_ * 8


def speed(arguments: argparse.Namespace) -> int:
    """Seconds of both for the same table, in turn; the best of three of each. A browser compiles
    the module anew while it runs, so that the first table takes longer; that is told."""
    table = arguments.folder / "speed.csv"
    readings = written(table, 2_000_000)
    commands = []
    seconds = [[float(one) for one in line[:2]] for line in page(arguments, "{}", [table] * 4)]
    for _ in range(3):
        begin = time.monotonic()
        # One processor, as the page has.
        one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        fit = [*one, arguments.hairspring, "fit", str(table), "--json"]
        subprocess.run(fit, check=True, stdout=subprocess.DEVNULL)
        commands.append(time.monotonic() - begin)
    first, best, native = sum(seconds[0]), min(map(sum, seconds)), min(commands)
    print(
        f"{readings} readings: {best:.3f} s in the module ({first:.3f} s at first), "
        f"{native:.3f} s by the command, {best / native:.2f} times"
    )
    return int(best / native > MOST_SLOWER)


def large(arguments: argparse.Namespace) -> int:
    """Seconds and memory of a table of 100 MB in the module."""
    table = arguments.folder / "large.csv"
    readings = written(table, 100_000_000)
    [[reading, solving, memory, _]] = page(arguments, "{}", [table])
    print(f"{readings} readings of 100 MB: read in {reading} s, solved in {solving} s, {memory} MB")
    table.unlink()
    return int(int(memory) > MOST_MEMORY)


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser()
    for name in ("hairspring", "engine", "module", "folder"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    run = speed if arguments.speed else large if arguments.large else same
    sys.exit(min(run(arguments), 1))


if __name__ == "__main__":
    main()
