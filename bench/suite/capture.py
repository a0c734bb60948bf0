"""Captures: edges against known ones, coverage of the intervals, an hour of sound, and dumps
beside wellen, vcd2fst and, with `BASE` as the path of its command, another build.

`DUMP_GB` is the size of the dump that goes through a pipe (1; 10 for a long run).
"""

import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import BENCH, COMMAND, Record, Settings, built, installed, median

DATA = BENCH / "target/capture"
CAPTURES, SECONDS, FRAMES = 500, 3600, 1440
MOST_MB, LEAST_MB_PER_S = 100, 100
DUMP_BYTES = 74_000_000
# How many times as fast as others the command has to be.
LEAST_RATIOS = {"wellen": 1.0, "vcd2fst": 1.0, "base": 2.5}
# CPU time and wall time in seconds, peak memory in MB.
Run = tuple[float, float, float]


def figures(*command: str) -> Any:
    """The JSON output of the program."""
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def accuracy(record: Record, program: str) -> None:
    """Standard deviations of an interval by method and noise."""
    rows = figures(program, "accuracy")
    cells = [
        (row["method"], "none" if row["noise_db"] is None else f"{row['noise_db']:.0f} dB")
        + tuple(f"{1e3 * row[key]:.3g}" for key in ("sd_us", "most_us"))
        for row in rows
    ]
    record.table(
        "One interval at 192 kHz", ("method", "noise", "sd, ns", "largest error, ns"), cells
    )
    record.csv(
        ("method", "noise_db", "sd_us"),
        [(row["method"], row["noise_db"], row["sd_us"]) for row in rows],
    )
    best = next(
        row["sd_us"] for row in rows if row["method"] == "band-limited" and row["noise_db"] is None
    )
    record.target(
        "band-limited: 60 ns or better without noise", best <= 0.06, f"{1e3 * best:.2g} ns"
    )


def coverage(record: Record, program: str, captures: int) -> None:
    """Share of the intervals that contain the truth."""
    rows = figures(program, "coverage", str(captures))
    cells = [
        (row["method"], f"{100 * row['coverage']:.1f} %")
        + tuple(f"{1e3 * row[key]:.2f}" for key in ("mean_us", "sd_us", "half_width_us"))
        for row in rows
    ]
    record.table(
        f"{captures} captures of a copy of 100 us",
        ("method", "coverage", "mean error, ns", "sd, ns", "+-, ns"),
        cells,
    )
    for row in rows:
        share = 100 * row["coverage"]
        record.target(
            f"{row['method']}: coverage of 93 to 97 %", 93 <= share <= 97, f"{share:.1f} %"
        )


def hour(record: Record, program: str) -> None:
    """An hour of sound through a pipe: time of the reader alone, and its memory."""
    with subprocess.Popen([program, "wav", str(SECONDS)], stdout=subprocess.PIPE) as source:
        begin = time.monotonic()
        with subprocess.Popen(
            [COMMAND, "capture", "-", "--json"], stdin=source.stdout, stdout=subprocess.DEVNULL
        ) as reader:
            assert source.stdout is not None
            source.stdout.close()
            _, status, usage = os.wait4(reader.pid, 0)
            reader.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begin
    megabytes = SECONDS * 192_000 * 3 / 1e6
    used = usage.ru_utime + usage.ru_stime
    peak = usage.ru_maxrss * 1024 / 1e6
    record.say(
        "",
        f"An hour of sound, {megabytes:.0f} MB: {used:.1f} s of CPU, {wall:.1f} s with its source, "
        f"{peak:.0f} MB of memory.",
        "",
    )
    speed = megabytes / used
    record.target(
        f"{LEAST_MB_PER_S} MB/s of CPU time or better",
        reader.returncode == 0 and speed >= LEAST_MB_PER_S,
        f"{speed:.0f} MB/s; {megabytes / wall:.0f} MB/s of wall time beside its source",
    )
    record.target(f"less than {MOST_MB} MB", peak < MOST_MB, f"{peak:.0f} MB")


def dumps(record: Record, program: str, times: int) -> None:
    """Value change dumps by the command, another build (`BASE`), wellen and vcd2fst in turn."""
    others = {"vcd2fst": installed("vcd2fst"), "base": os.environ.get("BASE")}
    rows = []
    for name, (path, channel) in dump_files(program).items():
        capture = ["capture", str(path), "--channel", channel, "--json"]
        by_wellen = [program, "wellen", str(path), channel]
        readers = {"Hairspring": [COMMAND, *capture], "wellen": by_wellen}
        if others["vcd2fst"]:
            readers["vcd2fst"] = [others["vcd2fst"], str(path), str(DATA / "dump.fst")]
        if others["base"]:
            readers["base"] = [others["base"], *capture]
        runs: dict[str, list[Run]] = {reader: [] for reader in readers}
        for _ in range(times):
            for reader, command in readers.items():
                runs[reader].append(timed(command))
        megabytes = path.stat().st_size / 1e6
        cells = {
            reader: tuple(median(column) for column in zip(*own, strict=True))
            for reader, own in runs.items()
        }
        rows += [
            (name, reader, f"{cpu:.3f}", f"{wall:.3f}", f"{megabytes / wall:.0f}", f"{peak:.0f}")
            for reader, (cpu, wall, peak) in cells.items()
        ]
        own = cells.pop("Hairspring")
        for reader, other in cells.items():
            record.target(
                f"{name}: {LEAST_RATIOS[reader]} times as fast as {reader}",
                other[0] >= LEAST_RATIOS[reader] * own[0],
                f"{other[0] / own[0]:.2f} by CPU time, {other[1] / own[1]:.2f} by wall time",
            )
        if "base" in cells:
            more = own[2] / cells["base"][2]
            record.target(f"{name}: at most twice the memory of base", more <= 2, f"{more:.2f}")
    record.table(
        "Value change dumps", ("dump", "reader", "CPU, s", "wall, s", "MB/s", "peak, MB"), rows
    )


def timed(command: list[str]) -> Run:
    """CPU time, wall time and peak memory of a command, whether it finds frames or not."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024 / 1e6


def dump_files(program: str) -> dict[str, tuple[Path, str]]:
    """Dumps of about 74 MB: a chip with frames; one signal; 8; 200, of which some are vectors."""
    DATA.mkdir(parents=True, exist_ok=True)
    frames = DATA / "frames.vcd"
    with frames.open("wb") as out:
        subprocess.run([program, "vcd", str(FRAMES)], stdout=out, check=True)
    files = {"frames": (frames, "PB7")}
    for signals in (1, 8, 200):
        path = DATA / f"signals-{signals}.vcd"
        with path.open("w") as file:
            file.writelines(changes(signals))
        files[f"{signals} signals"] = (path, "s0")
    return files


def changes(signals: int) -> Iterator[str]:
    """A dump with changes at random times; of 200 signals every fifth is a vector."""
    chance = random.Random(1)
    wide = {n for n in range(5, signals, 5) if signals > 8}
    names = [chr(33 + n % 90) + (chr(33 + n // 90) if n >= 90 else "") for n in range(signals)]
    yield "$timescale 1 ns $end\n"
    for n, name in enumerate(names):
        yield f"$var wire {8 if n in wide else 1} {name} s{n} $end\n"
    yield "$enddefinitions $end\n#0\n"
    yield from (f"b0 {name}\n" if n in wide else f"0{name}\n" for n, name in enumerate(names))
    now, size, levels = 1_000_000_000, 0, [0] * signals
    while size < DUMP_BYTES:
        now += chance.randrange(20, 2000)
        part = f"#{now}\n"
        for _ in range(chance.randrange(1, 12) if wide else 1):
            n = chance.randrange(signals)
            levels[n] ^= 1
            value = f"b{chance.randrange(256):b} " if n in wide else str(levels[n])
            part += f"{value}{names[n]}\n"
        size += len(part)
        yield part


def long_dump(record: Record, gigabytes: float) -> None:
    """A dump through a pipe, whose changes repeat with later times: peak memory and speed."""
    head = b"$timescale 1 ns $end\n$var wire 1 ! p $end\n$var wire 1 # q $end\n"
    begin, size = time.monotonic(), 0
    with subprocess.Popen(
        [COMMAND, "capture", "-", "--edges", "--channel", "p"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as reader:
        assert reader.stdin is not None
        size += reader.stdin.write(head + b"$enddefinitions $end\n#0\n0!\n0#\n")
        # The last digits of the times are the same in each block.
        lines = b"".join(
            b"#@%06d\n%d#\n" % (n, n % 2) + (b"%d!\n" % (n // 1000 % 2) if n % 1000 == 0 else b"")
            for n in range(0, 1_000_000, 10)
        )
        number = 1
        while size < gigabytes * 1e9:
            size += reader.stdin.write(lines.replace(b"@", b"%d" % number))
            number += 1
        reader.stdin.close()
        _, status, usage = os.wait4(reader.pid, 0)
        reader.returncode = os.waitstatus_to_exitcode(status)
    wall, peak = time.monotonic() - begin, usage.ru_maxrss * 1024 / 1e6
    record.target(
        f"a dump of {size / 1e9:.1f} GB through a pipe in {MOST_MB} MB",
        reader.returncode == 0 and peak < MOST_MB,
        f"{peak:.0f} MB, {usage.ru_utime + usage.ru_stime:.1f} s of CPU, {wall:.1f} s in all",
    )


def run(record: Record, settings: Settings) -> None:
    """Runs all parts."""
    program = built("capture-figures")
    accuracy(record, program)
    coverage(record, program, CAPTURES if settings.repeats is None else settings.repeats)
    dumps(record, program, settings.times(5))
    long_dump(record, float(os.environ.get("DUMP_GB", "1")))
    hour(record, program)
