"""Makes the files of this folder again, always with the same contents. The book shows the command's
results for them.

old.csv, new.csv   observations of a parser before and after a change, with made-up times: 62 and 48
                   ns a copy
sample.json        the same kind of loop as saved by Criterion.rs, with 25 ns of overhead in each
                   sample
pin.vcd            a simulated pin: frames with 1 to 8 copies of 100 us; each pulse is 2 us too
                   long, +- 15 ns of noise
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

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


if __name__ == "__main__":
    observations("old.csv", 62.0, 1)
    observations("new.csv", 48.0, 2)
    criterion()
    pin()
