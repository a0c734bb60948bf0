"""Real code by `hairspring time` against loops written by hand.

A loop that has the code at one place is what most benchmarks are. One that has it at eight or at 64
is nearer to a program that calls the code from several places: branches and calls then take more
entries of the predictors. Each loop is built at four places of a cache line, as its time depends on
that, too.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import Answer, Record, Settings, measure, median, share

INCLUDES = [
    "algorithm",
    "cstdint",
    "cstdlib",
    "cstring",
    "functional",
    "map",
    "memory",
    "numeric",
    "string",
    "unordered_map",
    "vector",
    "pthread.h",
]


@dataclass(frozen=True)
class Case:
    """Code with its variables; `opaque` are those that a loop keeps in registers. An init runs
    before each evaluation."""

    code: str
    lets: tuple[str, ...]
    opaque: tuple[str, ...] = ()
    init: str = ""


INSERT = (
    "for (int i = 1; i < {n}; i++) {{ int y = {v}[i], j = i; "
    "while (j > 0 && {v}[j - 1] > y) {{ {v}[j] = {v}[j - 1]; j--; }} {v}[j] = y; }}"
)
# A permutation without an order that is easy to predict.
MIXED = ", ".join(str(at * at * 37 % 211) for at in range(200))
CASES: dict[str, Case] = {
    "multiply and add": Case("x = x * 5 + y", ("uint64_t x = 3", "uint64_t y = 7"), ("x", "y")),
    "minimum": Case("m = x < y ? x : y", ("int x = 3", "int y = 5", "int m = 0"), ("x", "y", "m")),
    "array store": Case("s[0] = x", ("char s[8] = {1}", "char x = 3"), ("x",)),
    "increment in memory": Case("a[3] += x", ("long a[16]", "long x = 1"), ("x",)),
    "sum of 64": Case(
        "x += std::accumulate(a, a + 64, 0)", ("int a[64] = {1}", "int x = 0"), ("x",)
    ),
    "switch": Case(
        "switch (x & 3) { case 0: x += 5; break; case 1: x ^= 9; break; case 2: x *= 3; break; "
        "default: x -= 7; }",
        ("unsigned x = 17",),
        ("x",),
    ),
    "greatest common divisor": Case(
        "unsigned a = x, b = y; while (b) { unsigned t = a % b; a = b; b = t; } r = a",
        ("unsigned x = 1071", "unsigned y = 462", "unsigned r = 0"),
        ("x", "y", "r"),
    ),
    "binary search": Case(
        "r = *std::lower_bound(a, a + 64, 17)", ("int a[64]", "int r = 0"), ("r",)
    ),
    "sort of 8": Case(
        "int t[8]; memcpy(t, a, 32); std::sort(t, t + 8); x = t[3]",
        ("int a[8] = {5, 2, 8, 1, 9, 3, 7, 4}", "int x = 0"),
        ("x",),
    ),
    "memcpy": Case(
        "memcpy(to, from, n)", ("char to[64]", "char from[64]", "size_t n = 16"), ("n",)
    ),
    "memcmp": Case(
        "r = memcmp(to, from, n)",
        ("char to[64]", "char from[64]", "size_t n = 13", "int r = 0"),
        ("n", "r"),
    ),
    "strlen": Case("n = strlen(s)", ('char s[32] = "nine more"', "size_t n = 0"), ("n",)),
    "strtol": Case("x = strtol(s, nullptr, 10)", ('char s[8] = "12345"', "long x = 0"), ("x",)),
    "mutex": Case(
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m)",
        ("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER",),
    ),
    "malloc and free": Case(
        "void *p = malloc(n); *(volatile char *)p = 1; free(p)", ("size_t n = 64",), ("n",)
    ),
    "function pointer": Case("x = f(x)", ("int (*f)(int) = abs", "int x = 3"), ("x", "f")),
    "std::function": Case(
        "x = f(x)", ("std::function<int(int)> f = [](int a) { return a + 1; }", "int x = 3"), ("x",)
    ),
    "std::map, find": Case(
        "x = m.find(17)->second",
        ("std::map<int, int> m = {{1, 2}, {17, 3}, {5, 5}}", "int x = 0"),
        ("x",),
    ),
    "std::unordered_map, find": Case(
        "x = m.find(17)->second",
        ("std::unordered_map<int, int> m = {{1, 2}, {17, 3}, {5, 5}}", "int x = 0"),
        ("x",),
    ),
    "std::shared_ptr, copied": Case(
        "std::shared_ptr<int> q = p; x = *q",
        ("std::shared_ptr<int> p = std::make_shared<int>(4)", "int x = 0"),
        ("x",),
    ),
    "std::vector, pushed": Case(
        "v.push_back(x); v.pop_back()",
        ("std::vector<int> v = std::vector<int>(16)", "int x = 3"),
        ("x",),
    ),
    "sort of 16 behind an init": Case(
        INSERT.format(v="v", n=16),
        ("int v[16]",),
        init="for (int i = 0; i < 16; i++) v[i] = i * 7 % 16",
    ),
    "sort of 48": Case(
        "int t[48]; memcpy(t, a, 192); " + INSERT.format(v="t", n=48) + " x = t[3]",
        (f"int a[200] = {{{MIXED}}}", "int x = 0"),
        ("x",),
    ),
    "std::sort of 48 behind an init": Case(
        "std::sort(t, t + 48)", ("int t[48]", f"int a[200] = {{{MIXED}}}"), init="memcpy(t, a, 192)"
    ),
    "std::sort of 200": Case(
        "int t[200]; memcpy(t, a, 800); std::sort(t, t + 200); x = t[3]",
        (f"int a[200] = {{{MIXED}}}", "int x = 0"),
        ("x",),
    ),
    "snprintf": Case(
        'n = snprintf(to, 64, "%d %s", n, s)',
        ("char to[64]", 'char s[8] = "nine"', "int n = 12"),
        ("n",),
    ),
    "std::string, 40 appends": Case(
        "std::string t; for (int i = 0; i < 40; i++) t += 'a'; n = t.size()",
        ("size_t n = 0",),
        ("n",),
    ),
    "std::string, built": Case(
        "std::string t(s); n = t.size()", ('char s[32] = "nine more"', "size_t n = 0"), ("n",)
    ),
}
PLACES = (1, 8, 64)
# Bytes by which loops are moved.
SHIFTS = (0, 16, 32, 48)
NEAR_PERCENT = 10.0

# The loops: the lower quartile of 31 runs without what an empty one takes, each between two chains
# of multiplications that take 3 cycles.
PROGRAM = """
static double chain() {
  unsigned on;
  uint64_t x = 1, begin = __rdtscp(&on);
  for (int i = 0; i < 1000; i++) {
    __asm__ volatile("imul %0,%0\\n imul %0,%0\\n imul %0,%0\\n imul %0,%0\\n imul %0,%0\\n"
                     "imul %0,%0\\n imul %0,%0\\n imul %0,%0\\n imul %0,%0\\n imul %0,%0"
                     : "+r"(x));
  }
  return (__rdtscp(&on) - begin) / 30000.0;
}
static double core() {
  double least = chain();
  for (int run = 0; run < 5; run++) least = std::min(least, chain());
  return least;
}
template <class Code> static double cycles(unsigned places, Code code) {
  double found[31];
  unsigned on, trips = 16000 / places;
  for (double &one : found) {
    double before = core();
    uint64_t begin = __rdtscp(&on);
    code(0);
    uint64_t middle = __rdtscp(&on);
    code(trips);
    uint64_t end = __rdtscp(&on);
    double after = core();
    double more = double(end - middle) - double(middle - begin);
    one = more / std::min(before, after) / (trips * places);
  }
  std::sort(found, found + 31);
  return found[7];
}
"""


def name_of(let: str) -> str:
    """The name of a variable."""
    if "(*" in let:
        return let.split("(*")[1].split(")")[0]
    return let.partition("=")[0].split("[")[0].split()[-1].lstrip("*&")


def function(case: Case, places: int, with_code: bool = True) -> str:
    """A lambda with the code, or its init alone, at so many places in a loop. What is not in a
    register is static, as `--let` has it."""
    lets = [(name_of(let), let) for let in case.lets]
    kinds = {name: "x" if let.startswith(("double ", "float ")) else "r" for name, let in lets}
    registers = "".join(
        f'__asm__ volatile("" : "+{kinds.get(name, "r")}"({name})); ' for name in case.opaque
    )
    memory = '__asm__ volatile("" : : : "memory"); '
    init = f"{{ {case.init}; {registers}{memory}}}\n" if case.init else ""
    copy = init + (f"{{ {case.code}; {registers}{memory}}}\n" if with_code else "")
    declared = "".join(f"{'' if name in case.opaque else 'static '}{let}; " for name, let in lets)
    escaped = "".join(
        f'__asm__ volatile("" : : "r"(&{name}) : "memory"); '
        for name, _ in lets
        if name not in case.opaque
    )
    return (
        f"[](unsigned trips) {{ {declared}{escaped}__asm__ volatile(MOVED); while (trips--) {{\n"
        f"{copy * places}}} }}"
    )


def loop(case: Case, places: int) -> str:
    """An expression for the cycles of the code at so many places in a loop, without those of a loop
    with its init alone."""
    both = f"cycles({places}, {function(case, places)})"
    return (
        f"{both} - cycles({places}, {function(case, places, with_code=False)})"
        if case.init
        else both
    )


def source(cases: Iterable[Case]) -> str:
    """The program of all loops, which prints a line of cycles for each case."""
    lines = [
        "#include <x86intrin.h>",
        *(f"#include <{name}>" for name in INCLUDES),
        "#include <cstdio>",
        PROGRAM,
        "int main() {",
    ]
    for case in cases:
        figures = ", ".join(loop(case, places) for places in PLACES)
        lines.append(f'std::printf("%.4f %.4f %.4f\\n", {figures});')
    return "\n".join([*lines, "}"])


def printed(program: str, cpu: int) -> list[list[float]]:
    """What a program of loops prints; of two runs, the shorter time of each loop."""
    command = ("taskset", "-c", str(cpu), program)
    runs = [
        subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)
    ]
    tables = [[[float(word) for word in line.split()] for line in run.splitlines()] for run in runs]
    return [
        [min(figures) for figures in zip(*rows, strict=True)] for rows in zip(*tables, strict=True)
    ]


def loops(
    folder: Path, cpu: int, cases: Iterable[Case] = CASES.values()
) -> list[list[tuple[float, float]]]:
    """The shortest and the longest cycles of each case in moved loops, in the order of `PLACES`."""
    (folder / "loops.cpp").write_text(source(cases))
    tables = []
    for shift in SHIFTS:
        program = str(folder / f"loops{shift}")
        skipped = f".skip {shift}, 0x90" if shift else ""
        moved = f'-DMOVED="{skipped}"'
        build = (
            "g++",
            "-O2",
            "-std=c++17",
            moved,
            str(folder / "loops.cpp"),
            "-o",
            program,
            "-pthread",
        )
        subprocess.run(build, check=True)
        tables.append(printed(program, cpu))
    return [
        [(min(figures), max(figures)) for figures in zip(*rows, strict=True)]
        for rows in zip(*tables, strict=True)
    ]


def arguments(case: Case) -> tuple[str, ...]:
    """The arguments of `hairspring time` for the same code."""
    includes = tuple(word for name in INCLUDES for word in ("--include", name))
    lets = tuple(word for let in case.lets for word in ("--let", let))
    init = ("--init", case.init) if case.init else ()
    return (case.code, "--lang", "c++", *includes, *lets, *init)


def off_percent(answer: Answer, truth: list[tuple[float, float]]) -> float:
    """By how much the interval lies outside what the loops take, in percent of the nearer one."""
    low, high = min(low for low, _ in truth), max(high for _, high in truth)
    return max(0.0, 100 * (answer.low / high - 1), 100 * (1 - answer.high / low))


def run(record: Record, settings: Settings) -> None:
    """Each piece of code three times."""
    if os.uname().machine != "x86_64":
        record.say("The loops read the time stamp counter: not here.")
        return
    with tempfile.TemporaryDirectory() as folder:
        truths = dict(zip(CASES, loops(Path(folder), settings.cpu), strict=True))
    found = {
        name: [measure(*arguments(case), cpu=settings.cpu) for _ in range(settings.times(3))]
        for name, case in CASES.items()
    }
    ends = {name: [figure for place in truth for figure in place] for name, truth in truths.items()}
    raw = [
        (name, *ends[name], one.cycles, one.low, one.high, one.wall_s, one.found())
        for name in CASES
        for one in found[name]
    ]
    columns = (f"places_{places}_{end}" for places in PLACES for end in ("least", "most"))
    record.csv(("case", *columns, "cycles", "low", "high", "wall_s", "findings"), raw)
    rows = []
    for name, answers in found.items():
        trusted = [one for one in answers if not one.untrusted()]
        middle = median(one.cycles for one in answers)
        width = median((one.high - one.low) / 2 for one in answers)
        farthest = max((off_percent(one, truths[name]) for one in trusted), default=float("nan"))
        loop = [
            f"{low:.2f}" if high <= 1.005 * low else f"{low:.2f} to {high:.2f}"
            for low, high in truths[name]
        ]
        rows.append(
            (
                name,
                *loop,
                f"{middle:.2f} +- {width:.2f}",
                f"{farthest:.0f} %",
                f"{len(trusted)} of {len(answers)}",
            )
        )
    record.table(
        "Cycles",
        (
            "code",
            *(f"loop, {places}" for places in PLACES),
            "hairspring time",
            "outside",
            "trusted",
        ),
        rows,
    )
    off = [
        off_percent(one, truths[name])
        for name, answers in found.items()
        for one in answers
        if not one.untrusted()
    ]
    near = [percent <= NEAR_PERCENT for percent in off]
    what = f"trusted answers between the loops, or at most {NEAR_PERCENT:.0f} % outside"
    record.target(what, all(near), f"{share(near):.0f} % of {len(near)}")
