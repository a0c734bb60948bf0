"""Checks the code of gcc and clang for hairspring.h at -O0 to -O3: barriers are no instruction, and
every copy in the source is in the code. x86-64. Arguments: a folder to work in, and the compilers.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOT_CODE = re.compile(r"nop|endbr64|data16|cs|xchg ax,ax")
NOTHING = ["ret"]
READ = ["lfence", "rdtsc", "lfence", "shl rdx,0x20", "or rax,rdx", "ret"]
RETURN = ["mov rax,rdi", "ret"]

# From -O1 on: all instructions of a function, in order.
GOLDEN = {
    "use_integer": NOTHING,
    "use_small": NOTHING,
    "use_pointer": NOTHING,
    "use_float": NOTHING,
    "use_double": NOTHING,
    "use_memory": NOTHING,
    "opaque_integer": RETURN,
    "opaque_double": NOTHING,
    "read_clock": READ,
}
# At every level: the number of multiplications in a function.
PRODUCTS = {
    "use_product": 1,
    "opaque_constant": 1,
    "copies_1": 1,
    "copies_24": 24,
    "copies_256": 256,
    "independent_8": 8,
}
# From -O1 on: functions that only have their multiplications, the moves into their registers, and
# the return.
BARE = {"use_product": 1, "copies_24": 2, "copies_256": 2}


def disassembled(compiler: str, level: str, folder: Path) -> dict[str, list[str]]:
    """The instructions of every function."""
    built = folder / "disassembly.o"
    flags = [
        level,
        "-std=c11",
        f"-I{HERE.parent}",
        "-c",
        str(HERE / "disassembly.c"),
        "-o",
        str(built),
    ]
    subprocess.run([compiler, *flags], check=True)
    return functions_of(built)


def functions_of(built: Path) -> dict[str, list[str]]:
    """The instructions of every function of an object."""
    dump = ["objdump", "-d", "-M", "intel", "--no-show-raw-insn", str(built)]
    text = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
    functions: dict[str, list[str]] = {}
    for line in text.splitlines():
        if begin := re.match(r"[0-9a-f]+ <([\w$.]+)>:", line):
            functions[begin.group(1)] = []
        elif code := re.match(r" +[0-9a-f]+:\s+(.*)", line):
            words = " ".join(code.group(1).split())
            if not NOT_CODE.match(words):
                functions[list(functions)[-1]].append(words)
    return functions


def complaints(functions: dict[str, list[str]], optimised: bool) -> list[str]:
    """Messages about unexpected code."""
    found_complaints = []
    for name, expected in GOLDEN.items() if optimised else ():
        if functions[name] != expected:
            found_complaints.append(f"{name}: {functions[name]} where {expected} is expected")
    for name, count in PRODUCTS.items():
        products = sum(line.startswith("imul") for line in functions[name])
        if products != count:
            found_complaints.append(
                f"{name}: {products} multiplications where {count} are expected"
            )
    for name, moves in BARE.items() if optimised else ():
        rest = [line for line in functions[name] if not line.startswith("imul")]
        if sum(line.startswith("mov") for line in rest) > moves or len(rest) > moves + 1:
            found_complaints.append(f"{name}: {rest} beside its multiplications")
    return found_complaints


def main() -> int:
    """Checks every compiler and level, in the folder that is the first argument."""
    folder, compilers = Path(sys.argv[1]), sys.argv[2:]
    failed = 0
    for compiler in compilers:
        for level in ("-O0", "-O1", "-O2", "-O3"):
            for complaint in complaints(disassembled(compiler, level, folder), level != "-O0"):
                failed += 1
                print(f"{compiler} {level}: {complaint}")
    print(f"{len(compilers) * 4} compilations looked at, {failed} complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
