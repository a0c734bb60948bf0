"""Code of known time, for tables that show what the estimator is for.

The time of a chain is the sum of the latencies of its instructions: a multiplication of 64 bits
takes 3 cycles, exclusive or takes 1. The time of other code is what loops written by hand take on
the same machine.
"""

from dataclasses import dataclass

import loops
from cases import C_LETS, C_STEP, IMUL, XOR
from harness import asm

LENGTH, LOOP = "length", "loop"
COUNTED = "for (int i = 0; i < 1000; i++) {{ {step} }}"


@dataclass(frozen=True)
class Case:
    """A table to collect: what it shows, the arguments of `time`, and its cycles: None if a loop
    shows them.
    """

    shows: str
    arguments: tuple[str, ...]
    cycles: float | None = None
    init: float | None = None
    loop: loops.Case | None = None
    budget: str = "100ms"


def in_c(code: str, *lets: str) -> tuple[str, ...]:
    """Arguments for C with the variables of a chain and further ones."""
    return (*C_LETS, *(word for let in lets for word in ("--let", let)), code)


def chain(number: int) -> tuple[str, ...]:
    """So many multiplications, each of which waits for the one before."""
    return asm(*[IMUL] * number)


def counted(trips: int) -> tuple[str, ...]:
    """A loop of so many multiplications, whose other instructions run ahead."""
    return asm(f"mov ${trips}, %edx", f"1: {IMUL}", "dec %edx", "jnz 1b")


def independent(shows: str, instructions: tuple[str, ...], written: str = "") -> Case:
    """Instructions that use ports of the core. The loop keeps off the red zone, where its
    compiler may have values.
    """
    text = (
        "; ".join(instructions)
        .replace("-8(%rsp)", "-520(%rsp)")
        .replace("-16(%rsp)", "-528(%rsp)")
        .replace("%", "%%")
    )
    clobbers = ", ".join(f'"{name}"' for name in (*written.split(), "memory"))
    return Case(
        shows,
        asm(*instructions),
        loop=loops.Case(f'__asm__ volatile("{text}" : : : {clobbers})', ()),
    )


def real(name: str, shows: str = "real code") -> Case:
    """Code of the benchmark `loops`."""
    case = loops.CASES[name]
    return Case(shows, loops.arguments(case), loop=case, budget="200ms")


CHAINS = {
    "xor1": Case("chain", in_c("x ^= c;"), 1),
    "mul3": Case("chain", in_c("x *= c;"), 3),
    "xormul4": Case("chain", in_c("x = (x ^ c) * c;"), 4),
    "xormulxor5": Case("chain", asm(XOR, IMUL, XOR), 5),
    "asm30": Case("chain", chain(10), 30),
    "asm300": Case("chain", chain(100), 300),
    "body30_init120": Case("init", (*chain(10), "--init", "; ".join([IMUL] * 40)), 30, 120),
}
STAGES = {
    "loop3000": Case("layouts", counted(1000), 3000, budget="200ms"),
    "loop30000": Case("pauses", counted(10_000), 30_000, budget="200ms"),
    # One evaluation in 512 takes 3,000 cycles more, and the mean has its share of them.
    "slow36": Case(
        "slow evaluations",
        in_c(
            f"{C_STEP * 10} if (--n[0] == 0) {{ n[0] = 512; {COUNTED.format(step=C_STEP)} }}",
            "uint64_t n[1] = {512}",
        ),
        30 + 3000 / 512,
        budget="400ms",
    ),
    # The first 1,000 evaluations take 90 cycles more.
    "settle30": Case(
        "settling",
        in_c(f"{C_STEP * 10} if (n[0]) {{ n[0]--; {C_STEP * 30} }}", "uint64_t n[1] = {1000}"),
        30,
        budget="400ms",
    ),
    # What the body left makes the init 60 cycles longer.
    "undo30_init180": Case(
        "init that undoes",
        (
            *in_c(f"{C_STEP * 10} k[0] = 4;", "uint64_t k[1] = {0}"),
            "--init",
            f"{C_STEP * 40} for (; k[0]; k[0]--) {{ {C_STEP * 5} }}",
        ),
        30,
        180,
        budget="200ms",
    ),
    "coarse_mul3": Case("coarse clock", ("--clock", "monotonic", *chain(1)), 3),
    "coarse_asm30": Case("coarse clock", ("--clock", "monotonic", *chain(10)), 30),
    "coarse_asm300": Case(
        "coarse clock", ("--clock", "gettimeofday", *chain(100)), 300, budget="200ms"
    ),
}
PORTS = {
    "add4": independent(
        "ports", tuple(f"add %rcx, %r{at}" for at in (8, 9, 10, 11)), "r8 r9 r10 r11"
    ),
    "lea8": independent(
        "ports",
        tuple(f"lea 5(%rcx,%rdx), %r{at}" for at in range(8, 16)),
        "r8 r9 r10 r11 r12 r13 r14 r15",
    ),
    "store": independent("stores and loads", ("mov %rax, -8(%rsp)",)),
    "load2": independent("stores and loads", ("mov -8(%rsp), %r8", "mov -16(%rsp), %r9"), "r8 r9"),
    "store_load": independent(
        "stores and loads", ("mov %rax, -8(%rsp)", "mov -8(%rsp), %r8"), "r8"
    ),
}
REAL = {
    "gcd": real("greatest common divisor"),
    "switch": real("switch"),
    "sum64": real("sum of 64"),
    "strtol": real("strtol"),
    "memcpy16": real("memcpy"),
    "malloc": real("malloc and free"),
    "sort48": real("sort of 48", "settling"),
    "stdsort48": real("std::sort of 48 behind an init"),
}
CASES: dict[str, Case] = {**CHAINS, **STAGES, **PORTS, **REAL}
