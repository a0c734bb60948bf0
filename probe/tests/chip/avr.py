"""Compares avr-gcc's code for the headers in probe/chip/ with the expected instructions and the
table in its README.md.

Argument: a folder to work in.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROBE = HERE.parent.parent
PART = ["-mmcu=atmega2560", "-DF_CPU=1000000UL"]
FLAGS = [*PART, "-Os", "-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
VARIANTS = {"sbi": [], "out": ["-DHAIRSPRING_TOGGLE_BY_OUT"], "sts": ["-DHAIRSPRING_TOGGLE_BY_STS"]}

# An instruction: its words, and its size in bytes.
Code = tuple[str, int]

# Cycles of straight-line code with a 22-bit program counter; a skip that does not skip takes one,
# and then the next instruction takes another.
CYCLES = dict.fromkeys(
    "adc add and cli com eor in ldi lpm lsr mov movw nop or out ror sbrc".split(), 1
)
CYCLES |= dict.fromkeys("adiw cbi ld ldd lds rjmp sbi sbiw st std sts".split(), 2) | {"lpm": 3}

# All instructions of a function, in order; registers are the compiler's choice.
NOTHING = ["ret"]
GOLDEN = {
    "use_byte": NOTHING,
    "use_word": NOTHING,
    "opaque_word": NOTHING,
    "use_memory": NOTHING,
    "delay": ["sbrc", "rjmp", "sbrc", "lpm", "lsr", "ror", "lsr", "ror", "sbiw", "brne", "ret"],
    "start_pin": ["cbi 0x05, 7", "sbi 0x04, 7", "ret"],
}
TOGGLES = {
    "sbi": ["sbi 0x03, 7", "ret"],
    "out": ["ldi", "out", "ret"],
    "sts": ["ldi", "sts", "ret"],
}
CLOCK_READ = "`hairspring_clock_read()`"
PULSES = {"pulse_1": 1, "pulse_3": 3, "pulse_210": 210}


def disassembled(folder: Path, variant: str) -> dict[str, list[Code]]:
    """The instructions of every function."""
    built = folder / f"avr-{variant}.o"
    include = [f"-I{PROBE}", f"-I{PROBE / 'chip'}"]
    subprocess.run(
        [
            "avr-gcc",
            *FLAGS,
            *VARIANTS[variant],
            *include,
            "-c",
            str(HERE / "avr.c"),
            "-o",
            str(built),
        ],
        check=True,
    )
    # -z: includes code that looks like padding, such as 210 nops.
    dump = subprocess.run(
        ["avr-objdump", "-d", "-z", str(built)], check=True, capture_output=True, text=True
    ).stdout
    functions: dict[str, list[Code]] = {}
    for line in dump.splitlines():
        if begin := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            functions[begin.group(1)] = []
        elif code := re.match(r" +[0-9a-f]+:\t((?:[0-9a-f]{2} )+) *\t([^;]*)", line):
            functions[list(functions)[-1]].append(
                (" ".join(code.group(2).split()), len(code.group(1).split()))
            )
    return functions


def compiler_version() -> str:
    """The version of avr-gcc."""
    return subprocess.run(
        ["avr-gcc", "-dumpversion"], check=True, capture_output=True, text=True
    ).stdout.strip()


def matches(code: list[Code], expected: list[str]) -> bool:
    """Whether the instructions are the expected ones: a mnemonic alone matches any operands."""
    found_words = [
        words if " " in wanted else words.split()[0]
        for (words, _), wanted in zip(code, expected, strict=False)
    ]
    return len(code) == len(expected) and found_words == expected


def inside_pulse(code: list[Code], toggle: str) -> list[str]:
    """The code between the two toggles."""
    at = [place for place, (words, _) in enumerate(code) if words.startswith(toggle)]
    return [words for words, _ in code[at[0] + 1 : at[-1]]]


def size_and_cycles(code: list[Code]) -> tuple[int, int]:
    """Bytes and cycles of straight-line code, without the return."""
    body = [entry for entry in code if entry[0] != "ret"]
    return sum(size for _, size in body), sum(CYCLES[words.split()[0]] for words, _ in body)


def promised() -> dict[str, tuple[str, str]]:
    """The table of the page: bytes and cycles of each part."""
    rows = re.findall(
        r"^\| (.*?) \| (\d+) \| ([^|]+?) \|$",
        (PROBE / "chip" / "README.md").read_text("utf-8"),
        re.M,
    )
    return {part: (size, cycles) for part, size, cycles in rows}


def found(functions: dict[str, dict[str, list[Code]]]) -> dict[str, tuple[str, str]]:
    """Bytes and cycles of each part, from the disassembly."""
    rows: dict[str, tuple[str, str]] = {}
    for variant, made_functions in functions.items():
        last = [entry for entry in made_functions["toggle"] if entry[0] != "ret"]
        for part, code in (("TOGGLE", last[-1:]), ("READY", last[:-1])):
            size, cycles = size_and_cycles(code)
            rows[f"`HAIRSPRING_PIN_{part}()` by `{variant}`"] = (str(size), str(cycles))
    made_functions = functions["sbi"]
    size, cycles = size_and_cycles(made_functions["clock_read"])
    rows[CLOCK_READ] = (str(size), str(cycles))
    size, cycles = size_and_cycles(made_functions["start_pin"])
    rows["`hairspring_pin_start()`"] = (str(size), str(cycles))
    rows["`HAIRSPRING_USE`, `_OPAQUE`, `_USE_MEMORY`"] = ("0", "0")
    rows["`HAIRSPRING_PULSE` between its toggles, beside the copies"] = ("0", "0")
    rows["`hairspring_delay(c)`"] = (
        str(sum(size for words, size in made_functions["delay"] if words != "ret")),
        delay_cycles(made_functions["delay"]),
    )
    return rows


def delay_cycles(code: list[Code]) -> str:
    """For any count c: two skips, four shifts, and a loop of c / 4 turns that ends a cycle early.

    The simulator checks that both skips add the lowest bits of c (delay.c of the rig).
    """
    turn = CYCLES[code[8][0].split()[0]] + 2
    shifts = sum(CYCLES[words.split()[0]] for words, _ in code[4:8])
    skips = 2 * 2
    return f"c + {skips + shifts - 1}" if turn == 4 else f"{turn} a turn"


def complaints(functions: dict[str, dict[str, list[Code]]]) -> list[str]:
    """Messages about unexpected code."""
    wrong = []
    for variant, made_functions in functions.items():
        for name, expected in (GOLDEN | {"toggle": TOGGLES[variant]}).items():
            if not matches(made_functions[name], expected):
                wrong.append(
                    f"{variant} {name}: {[words for words, _ in made_functions[name]]} where "
                    f"{expected} is expected"
                )
        for name, copies in PULSES.items():
            if (code := inside_pulse(made_functions[name], variant)) != ["nop"] * copies:
                wrong.append(f"{variant} {name}: {code} where {copies} copies are expected")
        if any(
            words.split()[0].startswith(("br", "call", "rcall"))
            for words, _ in made_functions["clock_read"]
        ):
            wrong.append(f"{variant} clock_read: branches or calls")
    table, seen_figures = promised(), found(functions)
    if not compiler_version().startswith("5."):
        # Code from C and not from assembly depends on the compiler; that it has no branch is
        # checked above.
        print(
            f"avr-gcc {compiler_version()}: hairspring_clock_read has bytes, cycles "
            f"{seen_figures[CLOCK_READ]}"
        )
        seen_figures[CLOCK_READ] = table[CLOCK_READ]
    for part in sorted(table.keys() | seen_figures.keys()):
        if table.get(part) != seen_figures.get(part):
            wrong.append(
                f"README {part}: {table.get(part)} where the disassembly has "
                f"{seen_figures.get(part)}"
            )
    return wrong


def main() -> int:
    """Checks every way to toggle, in the folder that is the argument."""
    wrong = complaints({variant: disassembled(Path(sys.argv[1]), variant) for variant in VARIANTS})
    for complaint in wrong:
        print(complaint)
    print(f"{len(VARIANTS)} compilations looked at, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
