"""Makes the files of this folder again, always with the same contents. The book shows the command's
results for them.

old.csv, new.csv   observations of a parser before and after a change, with made-up times: 62 and 48
                   ns a copy
sample.json        the same kind of loop as saved by Criterion.rs, with 25 ns of overhead in each
                   sample
pin.vcd            a simulated pin: frames with 1 to 8 copies of 100 us; each pulse is 2 us too
                   long, +- 15 ns of noise
sizes.json         Google Benchmark's result of a sort of six sizes, with made-up times of n log n
fleet/             results of two benchmarks on eight machines of one family, with made-up times;
                   the clock of node6 is 6 % slower
"""

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
UNIT = 100_000  # of the frames' header, in ns


def observations(name: str, time: float, seed: int) -> None:
    """A table of observations, as a program prints it."""
    noise = random.Random(seed)
    lines = [
        "# hairspring observations: 1",
        "# clock: timer",
        "# rate_hz: 1000000000",
        "series,parse,round,ticks",
    ]
    for turn in range(20):
        for copies in noise.sample((1, 2, 4, 8, 12, 16), 6):
            lines.append(f"main,{copies},{turn},{time * copies + 30 + noise.gauss(0, 0.6):.2f}")
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def criterion() -> None:
    """A sample of Criterion.rs in its linear mode."""
    noise = random.Random(3)
    iterations = [float(5 * step) for step in range(1, 51)]
    times = [round(12.5 * count + 25 + noise.gauss(0, 1.5), 2) for count in iterations]
    sample = {"sampling_mode": "Linear", "iters": iterations, "times": times}
    (HERE / "sample.json").write_text(json.dumps(sample) + "\n", encoding="utf-8")


def sizes() -> None:
    """Google Benchmark's JSON of a function of several sizes."""
    noise = random.Random(7)
    rows = []
    for size in (64, 256, 1024, 4096, 16384, 65536):
        time = (210 + 3.1 * size * math.log2(size)) * noise.uniform(0.98, 1.02)
        name = f"BM_sort/{size}"
        rows.append(
            {
                "name": name,
                "run_name": name,
                "run_type": "iteration",
                "repetitions": 1,
                "repetition_index": 0,
                "threads": 1,
                "iterations": max(1, round(7e8 / time)),
                "real_time": round(time, 1),
                "cpu_time": round(time, 1),
                "time_unit": "ns",
            }
        )
    result = {"context": {"library_build_type": "release"}, "benchmarks": rows}
    (HERE / "sizes.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def check(payload: bytes) -> int:
    """CRC-8 with the polynomial 0x07 and the start 0xff."""
    crc = 0xFF
    for byte in payload:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc


def frame(pulses: int, dither: random.Random) -> Iterator[int]:
    """Lengths of gap, pulse, gap, pulse, ... in ns: the header pattern of spec/capture.md, the
    pulses and the end.
    """
    yield 6 * UNIT + dither.randrange(UNIT // 2)
    payload = bytes([0x10, 0, 1, 0, 1, pulses])
    bits = "".join(f"{byte:08b}" for byte in payload + bytes([check(payload)]))
    for units in [4, 1, 1, 3, 3, 1]:
        yield units * UNIT
    for number, bit in enumerate(bits):
        yield UNIT * (1 + int(bit))
        if number + 1 < len(bits):
            yield UNIT
    for number in range(pulses):
        yield (2 + number % 3) * UNIT + dither.randrange(UNIT // 2)
        yield round((number + 1) * 100_000 + 2_000 + dither.gauss(0, 15))
    yield 5 * UNIT + dither.randrange(UNIT // 2)
    yield UNIT


def pin() -> None:
    """A simulator's dump of a pin."""
    dither, now, high = random.Random(4), 0, 0
    lines = [
        "$version Simulated by make.py $end",
        "$timescale 1 ns $end",
        "$var wire 1 ! PB7 $end",
        "$enddefinitions $end",
        "#0",
        "0!",
    ]
    for _ in range(8):
        for length in frame(8, dither):
            now, high = now + length, 1 - high
            lines += [f"#{now}", f"{high}!"]
    lines.append(f"#{now + 10 * UNIT}")
    (HERE / "pin.vcd").write_text("\n".join(lines) + "\n", encoding="utf-8")


def interval(value: float, share: float) -> dict[str, float]:
    """A value with an interval of this share of it."""
    return {
        "value": round(value, 6),
        "low": round(value * (1 - share), 6),
        "high": round(value * (1 + share), 6),
        "level": 0.95,
    }


def component(cycles: float, hz: float) -> dict[str, Any]:
    """A time in core cycles at a core clock."""
    return {
        "time_ns": interval(cycles * 1e9 / hz, 0.002),
        "cycles": interval(cycles, 0.001),
        "below_resolution": False,
        "mode": None,
    }


def node(number: int, factor: float, hz: float) -> dict[str, Any]:
    """The result of a machine."""
    results = [
        {
            "name": name,
            "code": None,
            "code_hash": f"{len(name):016x}",
            "bytes_per_copy": None,
            "components": {"body": component(cycles * factor, hz)},
            "overhead": None,
            "budget": {"body": [{"source": "noise", "half_width_ns": 0.001 * cycles * 1e9 / hz}]},
        }
        for name, cycles in (("parse", 248.0), ("sort", 5120.0))
    ]
    cpu = {"model": "Invented 9000", "family": "6-999", "cpus": 64, "architecture": "x86_64"}
    identity = {
        "created": f"2026-11-30T12:0{number}:00Z",
        "host": f"{number:016x}",
        "version": "0.1.0",
        "commit": "0123456789abcdef0123456789abcdef01234567",
    }
    environment = {
        "identity": identity,
        "cpu": {**cpu, "hypervisor": False},
        "compiler": "gcc 12.2.0",
        "compiler_flags": "-O2",
    }
    return {
        "schema": "hairspring/result/2",
        "command": "run",
        "environment": environment,
        "results": results,
        "run": None,
    }


def fleet() -> None:
    """Results of eight machines."""
    noise, folder = random.Random(5), HERE / "fleet"
    folder.mkdir(exist_ok=True)
    for number in range(1, 9):
        hz = 4e9 * (1 + noise.gauss(0, 0.002)) * (0.94 if number == 6 else 1)
        document = node(number, 1 + noise.gauss(0, 0.004), hz)
        text = json.dumps(document, indent=1) + "\n"
        (folder / f"node{number}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    observations("old.csv", 62.0, 1)
    observations("new.csv", 48.0, 2)
    criterion()
    pin()
    sizes()
    fleet()
