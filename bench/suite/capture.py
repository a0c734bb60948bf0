"""Captures: edges against known ones, coverage of the intervals, an hour of sound, and a dump
beside wellen.
"""

import json
import os
import subprocess
import time
from typing import Any

from harness import BENCH, COMMAND, Record, Settings, built, median

DATA = BENCH / "target/capture"
CAPTURES, SECONDS, FRAMES = 500, 3600, 2000
MOST_MB, LEAST_MB_PER_S, LEAST_RATIO = 100, 100, 0.8


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


def dump(record: Record, program: str, times: int) -> None:
    """A value change dump read by Hairspring and by wellen in turn."""
    DATA.mkdir(parents=True, exist_ok=True)
    path = DATA / "frames.vcd"
    with path.open("wb") as out:
        subprocess.run([program, "vcd", str(FRAMES)], stdout=out, check=True)
    both = figures(program, "speed", str(path), str(times))
    own, other = median(both["hairspring_s"]), median(both["wellen_s"])
    same = both["hairspring_edges"] == both["wellen_edges"]
    detail = (
        f"{both['bytes'] / 1e6 / own:.0f} against {both['bytes'] / 1e6 / other:.0f} MB/s, the same "
        f"edges: {same}"
    )
    record.target(
        f"a dump at {LEAST_RATIO} of wellen's speed or better",
        same and other / own >= LEAST_RATIO,
        detail,
    )


def run(record: Record, settings: Settings) -> None:
    """Runs all parts."""
    program = built("capture-figures")
    accuracy(record, program)
    coverage(record, program, CAPTURES if settings.repeats is None else settings.repeats)
    dump(record, program, settings.times(5))
    hour(record, program)
