"""Checks the code of g++ and clang++ for hairspring.hpp at -O1 to -O3: barriers are no instruction,
and a row has its copies between the two reads of the clock, without a call or a jump. x86-64.
Arguments: a folder to work in, and the compilers.
"""

import re
import subprocess
import sys
from pathlib import Path

from disassembly import HERE, NOTHING, RETURN, functions_of

GOLDEN = {
    "keep_integer": NOTHING,
    "keep_bool": NOTHING,
    "keep_enum": NOTHING,
    "keep_pointer": NOTHING,
    "keep_float": NOTHING,
    "keep_double": NOTHING,
    "keep_object": NOTHING,
    "keep_empty": NOTHING,
    "opaque_object": NOTHING,
    "opaque_integer": RETURN,
    "opaque_double": NOTHING,
}
# The number of multiplications, without accesses to memory.
PRODUCTS = {"opaque_pair": 1, "opaque_array": 1}
IN_REGISTERS = "opaque_pair"

LINE = re.compile(r"_ZN10hairspring6detail8line_rowI.*Lj(\d+)ELj(\d+)EEEm")
PLANE = re.compile(
    r"_ZN10hairspring6detail9plane_rowI.*LNS0_5OrderE(\d)ELj(\d+)ELj(\d+)ELj(\d+)EEEm"
)
READ = re.compile(r"call (r\w+|QWORD)")
SHADOW, LINKS = 3, 16
# Three benchmarks: two of 12 straight rows and 6 that run blocks, and one of 12 with 27 that check
# it.
ROWS = 2 * (12 + 6) + 12 + 27


def expected_code(name: str) -> tuple[int, int] | None:
    """The number of multiplications in a row, and of jumps; None if the function is not a row."""
    if line := LINE.match(name):
        return int(line.group(1)), int(int(line.group(2)) > 1)
    if plane := PLANE.match(name):
        order, bodies, each, extra = (int(number) for number in plane.groups())
        return (bodies * LINKS if order == SHADOW else bodies * (1 + each) + extra), 0
    return None


def complaint_of_row(code: list[str], expected: tuple[int, int]) -> str | None:
    """A message about wrong code between the two reads of the clock."""
    reads = [at for at, line in enumerate(code) if READ.match(line)]
    if len(reads) != 2:
        return f"{len(reads)} reads of the clock"
    timed = code[reads[0] + 1 : reads[1]]
    jumps = [line for line in timed if line.startswith(("j", "call"))]
    found_multiplications = sum(line.startswith("imul") for line in timed)
    if (found_multiplications, len(jumps)) != expected or any(
        line.startswith("call") for line in jumps
    ):
        return (
            f"{found_multiplications} multiplications and {jumps} where {expected[0]} and "
            f"{expected[1]} are expected"
        )
    return None


def complaints(functions: dict[str, list[str]]) -> list[str]:
    """Messages about unexpected code."""
    found_complaints = [
        f"{name}: {functions[name]}"
        for name, expected in GOLDEN.items()
        if functions[name] != expected
    ]
    for name, count in PRODUCTS.items():
        if sum(line.startswith("imul") for line in functions[name]) != count:
            found_complaints.append(f"{name}: {functions[name]}")
    if any("PTR" in line for line in functions[IN_REGISTERS]):
        found_complaints.append(f"{IN_REGISTERS}: {functions[IN_REGISTERS]}")
    rows = {
        name: code
        for name in functions
        if ".cold" not in name and (code := expected_code(name)) is not None
    }
    if len(rows) != ROWS:
        found_complaints.append(f"{len(rows)} rows where {ROWS} are expected")
    wrong = ((name, complaint_of_row(functions[name], code)) for name, code in rows.items())
    return found_complaints + [f"{name}: {complaint}" for name, complaint in wrong if complaint]


def main() -> int:
    """Checks every compiler and level, in the folder that is the first argument."""
    folder, compilers = Path(sys.argv[1]), sys.argv[2:]
    built, source = folder / "disassembly.o", HERE / "cpp" / "disassembly.cpp"
    failed = 0
    for compiler in compilers:
        for level in ("-O1", "-O2", "-O3"):
            flags = ["-std=c++17", level, f"-I{HERE.parent}", "-c", str(source), "-o", str(built)]
            subprocess.run([compiler, *flags], check=True)
            for complaint in complaints(functions_of(built)):
                failed += 1
                print(f"{compiler} {level}: {complaint}")
    print(f"{len(compilers) * 3} compilations looked at, {failed} complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
