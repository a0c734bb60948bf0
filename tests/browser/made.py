"""The pages that the command makes: documents of every verb, and what is drawn from tables."""

import json
import lzma
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = os.environ.get("HAIRSPRING", str(ROOT / "target/debug/hairspring"))
CORPUS = "corpus/intel-6-207/sort48.busy_same.0.csv.xz"
VECTORS = "spec/vectors"
FILES = "examples/files"
SECONDS = 120  # one call of the command may take this long
EXPERIMENT = """
name = "a body"
need = "To know."
quantity = "The time of a body."
[accuracy]
required = "5 %"
[circumstances]
load = "none"
[expectation]
model = "n * 20 ns +- 20 %"
with = { n = "2" }
[setup]
program = ["cat", "line.csv"]
[[error]]
source = "oscillator"
kind = "systematic"
half_width = "0.1 %"
because = "its data sheet"
"""


@dataclass(frozen=True)
class Made:
    """A document, by the arguments of the command, and the table from which it is drawn."""

    arguments: list[str]
    table: str | None = None
    before: Callable[[Path], None] | None = None
    more: list[str] = field(default_factory=list)
    # `verify` ends with 1 where the instrument fails on this machine: the page says so.
    statuses: list[int] = field(default_factory=lambda: [0])


def _unpack(folder: Path) -> None:
    (folder / "corpus.csv").write_bytes(lzma.decompress((ROOT / CORPUS).read_bytes()))


def _compile(folder: Path) -> None:
    source = str(ROOT / "examples/blocks/crc32.c")
    subprocess.run(["gcc", "-O1", "-g", source, "-o", "crc32"], cwd=folder, check=True)


def _saved(folder: Path) -> None:
    for name in ("old", "new"):
        done = command(["fit", str(ROOT / FILES / f"{name}.csv"), "--json"], folder)
        (folder / f"{name}.json").write_text(done.stdout)


def _fleet(folder: Path) -> None:
    """Documents of eight machines of two families, one of them far from the others."""
    text = (ROOT / "spec/result.example.json").read_text()
    for machine in range(8):
        document = json.loads(text)
        factor = 1.3 if machine == 5 else 1 + machine / 500
        document["results"] = [_scaled(one, factor) for one in document["results"]]
        environment = document["environment"]
        environment["identity"] = {**environment["identity"], "host": f"{machine:016x}"}
        environment["cpu"] = {**environment["cpu"], "family": f"6-{143 if machine == 7 else 207}"}
        (folder / f"machine{machine}.json").write_text(json.dumps(document))


def _scaled(value: Any, factor: float) -> Any:
    """All intervals in a part of a document times a factor."""
    if isinstance(value, list):
        return [_scaled(one, factor) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"value", "low", "high", "level"}:
        return {key: one if key == "level" else one * factor for key, one in value.items()}
    return {key: _scaled(one, factor) for key, one in value.items()}


def _experiment(folder: Path) -> None:
    (folder / "e.toml").write_text(EXPERIMENT)
    shutil.copy(ROOT / VECTORS / "line.csv", folder)


def _fit(file: str) -> list[str]:
    return ["fit", str(ROOT / file), "--json"]


def _vector(name: str) -> Made:
    file = f"{VECTORS}/{name}.csv"
    return Made(_fit(file), table=file)


_MESSAGES = f"python3 {ROOT}/examples/blocks/messages.py 40"
_OF_TEN = ["x / c", "--vs", "x / 10", "--let", "uint64_t x = 1000", "--let", "uint64_t c = 10"]
_CRC = ["./crc32", "--function", "crc32", "--generate", _MESSAGES]
PAGES: dict[str, Made] = {
    **{name: _vector(name) for name in ("line", "plane", "two", "nothing", "disturbed")},
    "dependent": Made(_fit(f"{VECTORS}/dependent.csv")),
    "corpus": Made(["fit", "corpus.csv", "--json"], table="corpus.csv", before=_unpack),
    "hyperfine": Made(_fit(f"{FILES}/sample.json")),
    "capture": Made(["capture", str(ROOT / FILES / "pin.vcd"), "--json"]),
    "pulses": Made(["capture", str(ROOT / FILES / "pin.vcd"), "--pulses", "--json"]),
    "compare": Made(["compare", "old.json", "new.json", "--json"], before=_saved),
    "merge": Made(["merge", *(f"machine{n}.json" for n in range(8)), "--json"], before=_fleet),
    "experiment": Made(["experiment", "e.toml", "--json"], before=_experiment),
    "time": Made(["time", *_OF_TEN, "--budget", "1s", "--json"]),
    "blocks": Made(["blocks", *_CRC, "--budget", "3s", "--json"], before=_compile),
    "instructions": Made(["instructions", "imul*", "--budget", "2s", "--json"]),
    "mhz": Made(["mhz", "--json"]),
    "clocks": Made(["clocks", "--json"]),
    "period": Made(["period", "1ms", "-D", "1s", "--json"]),
    "switch": Made(["switch", "--budget", "2s", "--json"]),
    "doctor": Made(["doctor", "--json"]),
    "verify": Made(["verify", "--budget", "5ms", "--runs", "5", "--json"], statuses=[0, 1]),
}

# Beside the command where tools/wasm.sh built it.
SOLVER = Path(COMMAND).resolve().parents[1] / "lab/solver.json"
if SOLVER.exists():
    for _name in ("two", "corpus"):
        PAGES[f"{_name}-interactive"] = replace(PAGES[_name], more=["--interactive"])


def command(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command, with its output kept."""
    environment = {**os.environ, "HAIRSPRING_HISTORY": "off"}
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def make(name: str, folder: Path) -> Path:
    """The page of that name, made in `folder`."""
    made = PAGES[name]
    if made.before:
        made.before(folder)
    done = command(made.arguments, folder)
    assert done.returncode in made.statuses, done.stderr
    (folder / f"{name}.json").write_text(done.stdout)
    return report(f"{name}.json", folder, made.table, made.more)


def report(document: str, folder: Path, table: str | None = None, more: Iterable[str] = ()) -> Path:
    """The page of a document."""
    page = folder / Path(document).with_suffix(".html").name
    page.unlink(missing_ok=True)
    arguments = ["report", document, "--html", page.name, *more]
    if table:
        path = folder / table
        arguments += ["--table", str(path if path.exists() else ROOT / table)]
    done = command(arguments, folder)
    assert done.returncode == 0, done.stderr
    return page
