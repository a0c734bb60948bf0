#!/usr/bin/env python3
"""The edges of oscilloscopes' files by `hairspring capture --edges` and by RigolWFM.

    compare.py HAIRSPRING FOLDER

FOLDER has files that the tests of hairspring-capture wrote, named by their kind. A kind that
RigolWFM does not read is named and left out; every other one must have the same edges.
"""

import importlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# The kinds, and the name that RigolWFM expects.
KINDS = {
    "ag10": ".bin",
    "ds1000b": ".wfm",
    "ds1000e": ".wfm",
    "ds1000z": ".wfm",
    "ds2000": ".wfm",
    "ds4000": ".wfm",
    "isf": ".isf",
    "lecroy-1": ".trc",
    "lecroy-2": ".trc",
    "siglent-1": ".bin",
    "siglent-3": ".bin",
    "siglent-4": ".bin",
    "siglent-6": ".bin",
}
# Largest distance of an edge between samples from the sample behind it.
MOST_SAMPLES = 1.0


def edges_by_levels(volts: list[float]) -> list[int]:
    """Samples at which the level is a new one, with hysteresis."""
    low, high = min(volts), max(volts)
    level, found = None, []
    for at, value in enumerate(volts):
        share = (value - low) / (high - low)
        now = True if share > 0.6 else False if share < 0.4 else level
        if level is not None and now != level:
            found.append(at)
        level = now
    return found


def edges_by_hairspring(command: str, file: Path, channel: str) -> list[float]:
    """Times of the edges in seconds."""
    done = subprocess.run(
        [command, "capture", str(file), "--edges", "--channel", channel],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{file.name}: {done.stderr}")
    return [float(line) for line in done.stdout.split()]


def compare(command: str, file: Path, wfm: Any) -> int:
    """Compares all channels of a file; their number."""
    compared = 0
    for channel in wfm.channels:
        if not channel.enabled or channel.volts is None or len(channel.volts) == 0:
            continue
        compared += 1
        expected = edges_by_levels([float(value) for value in channel.volts])
        found = edges_by_hairspring(command, file, str(compared))
        samples = [time / float(channel.seconds_per_point) for time in found]
        if len(samples) != len(expected) or any(
            abs(sample - place) > MOST_SAMPLES
            for sample, place in zip(samples, expected, strict=True)
        ):
            raise SystemExit(f"{file.name}, channel {compared}:\n{samples}\n{expected}")
    return compared


def main() -> None:
    """Compares all files of the folder."""
    command, folder = sys.argv[1:]
    reader = importlib.import_module("RigolWFM.wfm")
    read = 0
    with tempfile.TemporaryDirectory() as temporary:
        for kind, suffix in KINDS.items():
            file = Path(temporary) / f"{kind}{suffix}"
            shutil.copyfile(Path(folder) / kind, file)
            try:
                wfm = reader.Wfm.from_file(str(file))
            except Exception as error:  # noqa: BLE001 - any failure of another program
                print(f"{kind}: left out, RigolWFM says {error}")
                continue
            channels = compare(command, file, wfm)
            print(f"{kind}: {channels} channels alike")
            read += channels > 0
    if 2 * read < len(KINDS):
        raise SystemExit(f"RigolWFM read {read} of {len(KINDS)} kinds")


if __name__ == "__main__":
    main()
