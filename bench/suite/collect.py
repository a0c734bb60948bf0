"""Collects raw tables of known truth on this machine, and cuts them for the folder `corpus`."""

import csv
import lzma
import random
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import loops
from compact import TRUTHS, Entry, compact, write_index
from corpus_cases import CASES, LENGTH, Case
from harness import BENCH, ROOT, Answer, Record, Settings, cpu_info, machine_name, measure, share
from measured import spread
from neighbour import neighbour, other

FULL = BENCH / "target/corpus"
KEPT = ROOT / "corpus"
# The neighbours of each situation, and whether each is on the CPU of the measurement.
SITUATIONS: dict[str, tuple[tuple[str, bool], ...]] = {
    "idle": (),
    "busy_same": (("busy", True),),
    "busy_other": (("busy", False),),
    "bursty_same": (("bursty", True),),
    "thrash_other": (("thrash", False),),
    "build": (("bursty", True), ("busy", False)),
    "compile": (("compile", True), ("compile", False)),
}
# A loop shows the time if its range is at most this share to both sides; the range is at least the
# error of a loop.
RANGE, ERROR = 0.1, 0.002
# Places of the code in loops that show a time: at one place alone, the loop's own instructions
# count.
PLACES = [at for at, places in enumerate(loops.PLACES) if places > 1]


def machine() -> str:
    """The name of the machine's folder: maker, family and model."""
    return re.sub(r"-(?:r|tm|xeon|processor|cpu)(?=-)", "", machine_name())


def cpu_model() -> str:
    """Model, family and number of the CPU, as an index has them."""
    cpu = cpu_info()
    return f"{cpu.get('model name', '')} {cpu.get('cpu family', '')}-{cpu.get('model', '')}"


def range_of(found: list[tuple[float, float]]) -> tuple[float, float]:
    """Middle and half of what loops took."""
    low = min(found[place][0] for place in PLACES)
    high = max(found[place][1] for place in PLACES)
    middle = (low + high) / 2
    return middle, max((high - low) / 2, ERROR * middle)


def shown_by_loops(cpu: int) -> dict[str, tuple[float, float]]:
    """The cycles of the cases whose loops agree, and half of their range."""
    named = {name: case.loop for name, case in CASES.items() if case.loop}
    with tempfile.TemporaryDirectory() as folder:
        found = loops.loops(Path(folder), cpu, named.values())
    ranges = {name: range_of(one) for name, one in zip(named, found, strict=True)}
    return {
        name: (cycles, half) for name, (cycles, half) in ranges.items() if half <= RANGE * cycles
    }


def write_truths(folder: Path, shown: dict[str, tuple[float, float]]) -> None:
    """Keeps what the loops showed."""
    with (folder / TRUTHS).open("w", newline="") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(("case", "cycles", "half"))
        out.writerows(
            (name, f"{cycles:.5g}", f"{half:.2g}") for name, (cycles, half) in shown.items()
        )


def collect(
    folder: Path, name: str, situation: str, number: int, cpu: int
) -> tuple[Entry, Answer] | None:
    """Measures one table, and packs it."""
    case: Case = CASES[name]
    raw = folder / f"{name}.{situation}.{number}.csv"
    answer = measure(*case.arguments, "--budget", case.budget, "--save", str(raw), cpu=cpu)
    if answer.error or not raw.is_file():
        raw.unlink(missing_ok=True)
        return None
    packed = raw.with_name(raw.name + ".xz")
    packed.write_bytes(lzma.compress(raw.read_bytes()))
    raw.unlink()
    cycles, init = ("" if value is None else f"{value:g}" for value in (case.cycles, case.init))
    source = LENGTH if cycles else ""
    return Entry(
        packed.name,
        name,
        cycles,
        init,
        situation,
        case.shows,
        source,
        cpu_model=cpu_info().get("model name", ""),
    ), answer


def collected(folder: Path, settings: Settings) -> Iterator[tuple[Entry, Answer]]:
    """All cases beside all neighbours, in a random order beside each."""
    jobs = [(name, number) for name in CASES for number in range(settings.times(2))]
    for situation, kinds in SITUATIONS.items():
        with ExitStack() as running:
            for kind, is_same in kinds:
                running.enter_context(
                    neighbour(kind, settings.cpu if is_same else other(settings.cpu))
                )
            for name, number in random.Random(situation).sample(jobs, len(jobs)):
                found = collect(folder, name, situation, number, settings.cpu)
                if found:
                    yield found


def run(record: Record, settings: Settings) -> None:
    """Full tables stay in `target/`; cut ones replace those of this machine in `corpus/`."""
    folder = FULL / machine()
    folder.mkdir(parents=True, exist_ok=True)
    shown = shown_by_loops(settings.cpu)
    write_truths(folder, shown)
    found = list(collected(folder, settings))
    write_index(folder, [entry for entry, _ in found])
    kept = compact(KEPT / machine(), [folder])
    record.csv(
        ("file", "case", "situation", "cycles", "low", "high", "findings"),
        [
            (entry.file, entry.case, entry.situation, a.cycles, a.low, a.high, a.found())
            for entry, a in found
        ],
    )
    tell(record, found, len(kept))


def tell(record: Record, found: list[tuple[Entry, Answer]], kept: int) -> None:
    """One line for each situation."""
    rows = []
    for situation in SITUATIONS:
        them = [(float(e.cycles), a) for e, a in found if e.situation == situation and e.cycles]
        trusted = [(truth, a) for truth, a in them if not a.untrusted()]
        held = f"{share(a.covers(truth) for truth, a in them):.0f} %"
        rows.append(
            (
                situation,
                len(them),
                held,
                len(trusted),
                f"{share(a.covers(t) for t, a in trusted):.0f} %",
            )
        )
    header = ("situation", "tables of known length", "hold", "trusted", "of these hold")
    record.table(f"{len(found)} tables, {kept} kept", header, rows)
    off = [abs(a.off_percent(float(e.cycles))) for e, a in found if e.cycles]
    record.figures.append(
        f"{len(found)} tables, {kept} kept; {spread('error of those of known length', off, ' %')}"
    )
