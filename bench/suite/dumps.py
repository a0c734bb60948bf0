"""Recordings of real devices: the sample dumps of the sigrok project, which are not part of this
repository.

`SIGROK_DUMPS=FOLDER bench/run dumps`, with a copy of github.com/sigrokproject/sigrok-dumps. The
expectation of every edge comes from readers written here, which have nothing in common with those
of the project; what a signal is comes from the files beside the dumps.
"""

import os
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from harness import COMMAND, Record, Settings

FOLDER = "SIGROK_DUMPS"
# Channels of a session that are compared, and the most edges of one.
CHANNELS = 2
MOST_EDGES = 300_000
UNITS = {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "mHz": 1e-3, "Hz": 1.0, "": 1.0}
# The same flash memory is read by every one of these, 20 bytes each time: the channel of its clock,
# and how many reads the recording holds.
FLASH = "spi/spiflash_read16"
FLASH_READS = {
    "chronovu_la16/chronovu_la16_spiflash_read16.vcd": ("1", 1),
    "scanalogic2_scanastudio2/scanalogic2_ss2_spiflash_read16.csv": ("CH2 CH 2", 3),
    "scanaplus_scanastudio2/ikalogic_scanaplus_spiflash_read16.csv": ("CH2 CLK", 1),
    "scanaplus_scanastudio2/ikalogic_scanaplus_spiflash_read16_onlyspi.csv": ("CH2 CLK", 1),
    "usbee_sx_usbee_suite/usbee_sx_spiflash_read16.csv": ("5", 1),
}
FLASH_EDGES = 320
# Signals of known times: glob, channel, distance of two edges in seconds, and its tolerance: a
# sample of the coarsest.
PERIODIC = (
    ("misc/square_wave_2ch/scope_*.csv", "1", 1 / 2400, 0.048),
    ("misc/basic_analog/square.wav", "1", 0.5e-3, 1e-4),
    ("misc/basic_analog/sawtooth.wav", "1", 1e-3, 1e-4),
)


def edges_by_command(file: Path, channel: str) -> list[float] | str:
    """Times of the edges in seconds, or the error."""
    command = [COMMAND, "capture", "--edges", "--channel", channel, str(file)]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    return (
        [float(word) for word in answer.stdout.split()]
        if answer.returncode == 0
        else answer.stderr.strip()[:300]
    )


def metadata(archive: zipfile.ZipFile) -> dict[str, str]:
    """The settings of a session."""
    lines = archive.read("metadata").decode("utf-8", "replace").splitlines()
    return {
        key.strip(): value.strip()
        for key, equal, value in (line.partition("=") for line in lines)
        if equal
    }


def pieces(archive: zipfile.ZipFile, name: str) -> bytes:
    """The samples of a session, in one piece or in several."""
    names = set(archive.namelist())
    if name in names:
        return archive.read(name)
    parts, at = [], 1
    while f"{name}-{at}" in names:
        parts.append(archive.read(f"{name}-{at}"))
        at += 1
    return b"".join(parts)


def changes(samples: bytes) -> list[int]:
    """Indices of the samples that differ from the one before; samples are 0 or 1."""
    found: list[int] = []
    at = 0
    while samples and len(found) <= MOST_EDGES:
        at = samples.find(b"\1" if samples[at] == 0 else b"\0", at)
        if at < 0:
            break
        found.append(at)
    return found


def sessions(folder: Path, most: int) -> Iterator[tuple[str, str]]:
    """So many sessions with what came of each: equal, different, or why it was not compared."""
    files = sorted(folder.rglob("*.sr"))
    for file in files[:: -(-len(files) // most) if most else 1]:
        name = str(file.relative_to(folder))
        with zipfile.ZipFile(file) as archive:
            settings = metadata(archive)
            digits = re.match(r"([\d.]+)\s*(\w*)", settings.get("samplerate", "0"))
            rate = float(digits[1]) * UNITS[digits[2]] if digits else 0.0
            probes = {
                int(key[5:]): value
                for key, value in settings.items()
                if re.fullmatch(r"probe\d+", key)
            }
            if rate == 0:
                yield (
                    name,
                    "no rate: "
                    + (
                        "refused" if isinstance(edges_by_command(file, "1"), str) else "not refused"
                    ),
                )
            elif not probes:
                yield name, "volts"
            else:
                yield (
                    name,
                    session(
                        file,
                        probes,
                        rate,
                        int(settings.get("unitsize", "1")),
                        pieces(archive, settings["capturefile"]),
                    ),
                )


def session(file: Path, probes: dict[int, str], rate: float, unit: int, samples: bytes) -> str:
    """The first channels of a session that have edges."""
    compared = 0
    for number, name in sorted(probes.items()):
        bit = (number - 1) % 8
        table = bytes(value >> bit & 1 for value in range(256))
        expected = changes(
            samples[(number - 1) // 8 :: unit][: len(samples) // unit].translate(table)
        )
        if compared == CHANNELS or not expected or len(expected) > MOST_EDGES:
            continue
        compared += 1
        found = edges_by_command(file, name)
        if isinstance(found, str):
            return f"refused: {name}: {found}"
        # Times are printed to a picosecond.
        if len(found) != len(expected) or any(
            abs(a * rate - b) > 1e-6 + 1e-12 * rate for a, b in zip(found, expected, strict=True)
        ):
            return f"different: {name}: {len(found)} edges, {len(expected)} expected"
    return "equal" if compared else "no edges"


def periodic(folder: Path) -> Iterator[tuple[str, str]]:
    """Signals of known times."""
    for pattern, channel, distance, tolerance in PERIODIC:
        for file in sorted(folder.glob(pattern)):
            found = edges_by_command(file, channel)
            if isinstance(found, str):
                yield file.name, f"refused: {found}"
                continue
            # The first edge may be a step at the beginning of the recording.
            off = max(
                (abs((after - before) / distance - 1) for before, after in pairwise(found[1:-1])),
                default=1.0,
            )
            yield (
                file.name,
                "equal"
                if off <= tolerance and len(found) > 3
                else f"different: off by {100 * off:.1f} %",
            )


def flash(folder: Path) -> Iterator[tuple[str, str]]:
    """The clock of one flash memory, by logic analysers of several makers."""
    for name, (clock, reads) in FLASH_READS.items():
        found, expected = edges_by_command(folder / FLASH / name, clock), FLASH_EDGES * reads
        if isinstance(found, str):
            yield name, f"refused: {found}"
        else:
            right = len(found) == expected
            yield name, "equal" if right else f"different: {len(found)} edges, {expected} expected"


def broken(folder: Path) -> Iterator[tuple[str, str]]:
    """Files of every kind cut in the middle: an answer or an error of one line, never a crash."""
    kinds = ("*.sr", "*.csv", "*.vcd", "*.wav")
    for kind in kinds:
        for file in sorted(folder.rglob(kind))[:20]:
            with tempfile.NamedTemporaryFile(suffix=file.suffix) as cut:
                cut.write(file.read_bytes()[: file.stat().st_size // 2])
                cut.flush()
                answer = subprocess.run(
                    [COMMAND, "capture", "--edges", "--channel", "1", cut.name],
                    check=False,
                    capture_output=True,
                    text=True,
                )
            good = answer.returncode == 0 or (
                answer.returncode == 1 and answer.stderr.count("\n") == 1
            )
            yield (
                f"half of {file.name}",
                "equal" if good else f"different: status {answer.returncode}",
            )


def run(record: Record, settings: Settings) -> None:
    """All dumps, or as many sessions as there are repetitions."""
    place = os.environ.get(FOLDER)
    if not place or not Path(place).is_dir():
        record.say(
            f"Not run: {FOLDER} must be the folder of a copy of "
            "github.com/sigrokproject/sigrok-dumps.",
            "",
        )
        return
    rows, folder = [], Path(place)
    groups: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
        "session": lambda: sessions(folder, settings.times(0)),
        "known times": lambda: periodic(folder),
        "one flash memory": lambda: flash(folder),
        "cut in half": lambda: broken(folder),
    }
    for what, found in groups.items():
        results = list(found())
        wrong = [
            (name, result)
            for name, result in results
            if result.startswith(("refused", "different", "no rate: not"))
        ]
        equal = sum(result == "equal" for _, result in results)
        rows.append(
            (
                what,
                str(len(results)),
                str(equal),
                str(len(wrong)),
                str(len(results) - equal - len(wrong)),
            )
        )
        record.target(f"{what}: none is refused or read in another way", not wrong, f"{len(wrong)}")
        record.say(*(f"- {name}: {result}" for name, result in wrong), "")
    record.table(
        "Dumps of real devices",
        ("what", "files", "equal", "wrong", "without edges, rate or levels"),
        rows,
    )
