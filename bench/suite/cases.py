"""Chains whose length in core cycles is an integer, as arguments of `hairspring time`."""

from harness import asm

IMUL, XOR = "imul %rcx, %rax", "xor %rcx, %rax"
FLOATS = ("--let", "double x = 1.5", "--let", "double y = 1.0000001")

CHASE = ("--let", "void *p = &p", *asm("mov (%[p]), %[p]"))

CHAINS: dict[str, tuple[str, ...]] = {
    "imul": asm(IMUL),
    "add": asm("add %rcx, %rax"),
    "xor": asm(XOR),
    "popcnt": asm("popcnt %rax, %rax"),
    "load": CHASE,
    "mulsd": (*FLOATS, *asm("mulsd %[y], %[x]")),
    "divsd": (*FLOATS, *asm("divsd %[y], %[x]")),
    "xor+imul": asm(XOR, IMUL),
    "xor+imul+xor": asm(XOR, IMUL, XOR),
}

# The empty statement makes every product wait for the one before; without it the compiler combines
# 50 of them.
C_STEP = 'x = x * c; __asm__ volatile("" : "+r"(x)); '
C_LETS = ("--let", "uint64_t x = 3", "--let", "uint64_t c = 5")

INIT_PAIRS: dict[str, tuple[str, ...]] = {
    "assembly": (*asm(*[IMUL] * 10), "--init", "; ".join([IMUL] * 40)),
    "C": (*C_LETS, C_STEP * 10, "--init", C_STEP * 40),
}
BODY_CYCLES = 30.0

TRUTH: dict[str, tuple[float, tuple[str, ...]]] = {
    "chain_1": (1, CHAINS["xor"]),
    "chain_3": (3, CHAINS["imul"]),
    "chain_4": (4, CHAINS["xor+imul"]),
    "chain_5": (5, CHAINS["xor+imul+xor"]),
    "chain_30": (30, asm(*[IMUL] * 10)),
    "body_30_init_120": (30, INIT_PAIRS["assembly"]),
}
