"""Colours as people see them: contrast, and distances with a colour vision deficiency.

The contrast is that of WCAG 2.2. The simulation of a deficiency is that of Machado, Oliveira and
Fernandes (2009), severity 1.0, which Chromium uses too. Two colours are told apart if they are
further apart on an axis of CIELAB than half of the observers need: Stone, Szafir and Setlur, "An
engineering model for color difference as a function of size" (2014). Their smallest size, a third
of a degree, is about 4 mm at 70 cm: the marks and lines of a plot are rather smaller, so this is
the least that a palette must reach, and no plot may rely on colour alone.
"""

from collections.abc import Iterable
from itertools import combinations

Triple = tuple[float, float, float]

DEFICIENCIES: dict[str, tuple[Triple, Triple, Triple]] = {
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
_WHITE = (0.95047, 1.0, 1.08883)  # D65
SIZE = 1 / 3  # degrees
OBSERVERS = 0.5  # the part of them that tells the colours apart
_AT_SIZE = ((10.16, 1.50), (10.68, 3.08), (10.70, 5.74))  # L*, a*, b*: ND = p * (A + B / size)
LIMITS = tuple(OBSERVERS * (a + b / SIZE) for a, b in _AT_SIZE)
TEXT_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
MARK_CONTRAST = 3.0  # WCAG 2.2, 1.4.11


def parse(hexadecimal: str) -> Triple:
    """`#rrggbb` as numbers from 0 to 255."""
    digits = hexadecimal.removeprefix("#")
    return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))


def linear(colour: Triple) -> Triple:
    """Amounts of light of sRGB."""

    def one(value: float) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)

    return (one(colour[0]), one(colour[1]), one(colour[2]))


def encoded(light: Triple) -> Triple:
    """sRGB of amounts of light, as whole numbers from 0 to 255."""

    def one(amount: float) -> float:
        part = min(1.0, max(0.0, amount))
        value = part * 12.92 if part <= 0.0031308 else 1.055 * float(part ** (1 / 2.4)) - 0.055
        return round(255 * value)

    return (one(light[0]), one(light[1]), one(light[2]))


def _times(matrix: tuple[Triple, ...], vector: Triple) -> Triple:
    rows = [sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix]
    return (rows[0], rows[1], rows[2])


def simulated(colour: Triple, deficiency: str) -> Triple:
    """The colour with normal vision that looks as `colour` does with the deficiency."""
    return encoded(_times(DEFICIENCIES[deficiency], linear(colour)))


def lab(colour: Triple) -> Triple:
    """CIELAB under D65."""

    def one(part: float) -> float:
        if part > (6 / 29) ** 3:
            return float(part ** (1 / 3))
        return part / (3 * (6 / 29) ** 2) + 4 / 29

    x, y, z = (one(v / w) for v, w in zip(_times(_XYZ, linear(colour)), _WHITE, strict=True))
    return (116 * y - 16, 500 * (x - y), 200 * (y - z))


def apart(first: Triple, second: Triple, deficiency: str = "none") -> float:
    """The distance of two colours in limits: from 1 on they are told apart."""
    one, other = (lab(simulated(colour, deficiency)) for colour in (first, second))
    return max(abs(a - b) / limit for a, b, limit in zip(one, other, LIMITS, strict=True))


def too_close(palette: Iterable[Triple]) -> list[str]:
    """The pairs of a palette that look alike, each as a sentence."""
    faults = []
    for first, second in combinations(sorted(set(palette)), 2):
        for deficiency in DEFICIENCIES:
            distance = apart(first, second, deficiency)
            if distance < 1:
                faults.append(
                    f"{name(first)} and {name(second)} look alike with {deficiency}: "
                    f"{distance:.2f} of the limit"
                )
    return faults


def name(colour: Triple) -> str:
    """`#rrggbb`."""
    return "#" + "".join(f"{round(value):02x}" for value in colour)


def contrast(first: Triple, second: Triple) -> float:
    """The contrast of WCAG, from 1 to 21."""

    def luminance(colour: Triple) -> float:
        red, green, blue = linear(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
