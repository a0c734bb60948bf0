"""Every language against `hairspring time`, and its usual tools, in one run."""

import csv
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from accuracy import ALIKE, ANCHOR_CYCLES
from cases import IMUL, XOR
from harness import BENCH, COMMAND, ROOT, Record, Settings, asm, figure, median, run_json

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")))
SOURCES = BENCH / "languages"
BUILT = BENCH / "target" / "languages"
INCLUDES = (
    f"-I{ROOT / 'probe'}",
    f"-I{ROOT / 'crates/hairspring-capi/include'}",
    "-DHAIRSPRING_ENGINE",
)
SYSTEM = ("-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl")
BUDGET = "600ms"
TARGET_PERCENT = 0.5

WORK = BUILT / "work.o"
CALLED = ("--file", str(SOURCES / "work.h"), "--file", str(WORK))
FILLED = ("--init", "work_fill()", *CALLED)
# Case: its true length in cycles, if known, and the arguments of `hairspring time`.
CASES: dict[str, tuple[float | None, tuple[str, ...]]] = {
    "chain_1": (1, asm(XOR)),
    "chain_3": (3, asm(IMUL)),
    "chain_30": (30, asm(*[IMUL] * 10)),
    "body_30_init_120": (30, (*asm(*[IMUL] * 10), "--init", "; ".join([IMUL] * 40))),
    "call_empty": (None, ("work_nothing()", *CALLED)),
    "call_chain_300": (None, ("work_chain_300()", *CALLED)),
    "sort_16": (None, ("work_sort()", *FILLED)),
    "network_16": (None, ("work_network()", *FILLED)),
}
NOTHING_NS = 0.01
PYTHON_CASES = ("py_pass", "py_assign", "py_call", "py_sort_16")
CTYPES_CYCLES = 30_000
LANGUAGES = ("C", "C++", "Rust", "Fortran")
PEERS = ("google-benchmark", "nanobench", "criterion", "divan")
PYTHON_PEERS = ("timeit", "pyperf")

# Why a figure differs from that of `hairspring time`, if the language or the tool is the reason.
REASONS: dict[tuple[str, str], str] = {
    ("google-benchmark", "body_30_init_120"): "stopping the clock costs more than the body",
    ("google-benchmark", "sort_16"): "stopping the clock costs more than the body",
    ("google-benchmark", "network_16"): "stopping the clock costs more than the body",
    ("criterion", "body_30_init_120"): "it includes the reads of the clock",
    ("criterion", "sort_16"): "it includes the reads of the clock; the call has one site",
    ("criterion", "network_16"): "it includes the reads of the clock",
    ("divan", "body_30_init_120"): "inputs prepared ahead: the bodies overlap",
    ("divan", "sort_16"): "inputs prepared ahead: other numbers in other places",
    ("nanobench", "body_30_init_120"): "the tool has no init: the time is that of init and body",
    ("nanobench", "sort_16"): "the tool has no init: the time is that of init and body",
    ("nanobench", "network_16"): "the tool has no init: the time is that of init and body",
}


# Reasons other than the language.
DENSE = (
    "calls 5 bytes apart: the rows are off the line in every language and in the command, and a "
    "finding says so"
)
LEARNED = (
    "runs of one program differ as much, because of the branch predictor's state or a neighbour on "
    "the core"
)
CAUSES = {"call_empty": DENSE, "sort_16": LEARNED}


@dataclass(frozen=True)
class Figure:
    """One result: in cycles for compiled code, in nanoseconds for Python."""

    value: float
    low: float = float("nan")
    high: float = float("nan")
    findings: str = ""


Answers = dict[str, Figure]


@dataclass
class Builder:
    """Builds the measured programs, once."""

    programs: dict[str, Path] = field(default_factory=dict)

    def shell(
        self, *command: str | Path, folder: Path = ROOT, more: dict[str, str] | None = None
    ) -> str:
        """Runs a build command, and returns its standard output."""
        environment = {**os.environ, **(more or {})}
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, cwd=folder, env=environment
        )
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]}: exit {done.returncode}: {done.stderr[-600:]}")
        return done.stdout

    def functions(self) -> None:
        """The object of C functions, and a shared library of it."""
        BUILT.mkdir(parents=True, exist_ok=True)
        flags = ("-std=c11", "-O2", "-fPIC", "-falign-functions=64")
        self.shell("gcc", *flags, "-c", SOURCES / "work.c", "-o", WORK)
        self.shell("gcc", "-shared", WORK, "-o", BUILT / "libwork.so")

    def all(self) -> None:
        """The C functions, and a program in each language."""
        self.functions()
        self.shell("cargo", "build", "--quiet", "--release", "--package", "hairspring-capi")
        library = (WORK, TARGET / "release/libhairspring_capi.a", *SYSTEM)
        self.shell(
            "gcc", "-std=c11", "-O2", *INCLUDES, SOURCES / "truth.c", *library, "-o", BUILT / "C"
        )
        self.shell(
            "g++",
            "-std=c++17",
            "-O2",
            *INCLUDES,
            SOURCES / "truth.cpp",
            *library,
            "-o",
            BUILT / "C++",
        )
        fortran = (
            "-std=f2018",
            "-O2",
            f"-J{BUILT}",
            ROOT / "probe/fortran/hairspring.f90",
            SOURCES / "truth.f90",
        )
        self.shell("gfortran", *fortran, *library, "-o", BUILT / "Fortran")
        self.programs = {name: BUILT / name for name in ("C", "C++", "Fortran")}
        self.programs["Rust"] = self.rust("table")
        self.python()

    def rust(self, name: str) -> Path:
        """One of the programs in Rust, at the path that cargo reports."""
        command = (
            "cargo",
            "bench",
            "--locked",
            "--no-run",
            "--bench",
            name,
            "--message-format=json",
        )
        lines = self.shell(
            *command, folder=SOURCES / "rust", more={"HS_WORK": str(WORK)}
        ).splitlines()
        messages = [json.loads(line) for line in lines if line.startswith("{")]
        found = [message["executable"] for message in messages if message.get("executable")]
        return Path(found[-1])

    def python(self) -> None:
        """The package, installed into the environment that runs this."""
        environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        pip = (
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        )
        self.shell(
            *pip, "--no-build-isolation", "--force-reinstall", ROOT / "python", more=environment
        )


def answers_of(document: dict[str, object] | None, error: str) -> tuple[Answers, list[str]]:
    """The body of every result of a document, in cycles, or in nanoseconds for a case of Python."""
    if document is None:
        return {}, [error]
    answers: Answers = {}
    results = document["results"]
    assert isinstance(results, list)
    for result in results:
        body = next(iter(result["components"].values()))
        unit = "time_ns" if result["name"] in PYTHON_CASES else "cycles"
        found = " ".join(f"{one['kind']}:{one['severity']}" for one in result["findings"])
        answers[result["name"]] = Figure(*figure(body.get(unit)), found)
    return answers, []


def hairspring_time(cpu: int) -> tuple[Answers, list[str]]:
    """Every case by the command."""
    answers, notes = Answers(), []
    for case, (_, arguments) in CASES.items():
        document, error, _ = run_json("time", *arguments, "--cpu", str(cpu), "--budget", "1300ms")
        found, said = answers_of(document, error)
        notes += said
        answers[case] = next(iter(found.values()), Figure(float("nan")))
    return answers, notes


def program(path: Path, cpu: int) -> tuple[Answers, list[str]]:
    """All cases of a program, through `hairspring run`."""
    document, error, _ = run_json("run", str(path), "--cpu", str(cpu), "--budget", BUDGET)
    return answers_of(document, error)


def python_program(cpu: int) -> tuple[Answers, list[str]]:
    """The cases of Python: functions as a program, statements by the package's command."""
    library = {**os.environ, "HS_WORK_LIBRARY": str(BUILT / "libwork.so")}
    command = [
        COMMAND,
        "run",
        str(SOURCES / "truth.py"),
        "--json",
        "--cpu",
        str(cpu),
        "--budget",
        BUDGET,
    ]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    answers, notes = output_of(command, {**library, "PATH": path})
    for case, statement, setup in (("py_pass", "pass", "pass"), ("py_assign", "a = b", "b = 1")):
        one = [
            sys.executable,
            "-m",
            "hairspring",
            "time",
            statement,
            "--setup",
            setup,
            "--json",
            "--cpu",
            str(cpu),
        ]
        found, said = output_of([*one, "--budget", BUDGET], library, case)
        answers, notes = answers | found, notes + said
    return answers, notes


def output_of(
    command: list[str], environment: dict[str, str], case: str = ""
) -> tuple[Answers, list[str]]:
    """The results in the document that a command prints; a single result is named `case`, if
    that is given.
    """
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    if done.returncode not in (0, 3) or not done.stdout:
        return {}, [
            f"{' '.join(command[:4])}: exit {done.returncode}: "
            f"{' '.join(done.stderr.split())[:200]}"
        ]
    document = json.loads(done.stdout)
    if case:
        document["results"][0]["name"] = case
    return answers_of(document, "")


def peer(tool: str, cpu: int) -> tuple[Answers, list[str]]:
    """All cases of a peer: in cycles by its own anchor, Python's in nanoseconds."""
    environment = {**os.environ, "HS_CPU": str(cpu), "HS_PYTHON": sys.executable}
    script = BENCH / "peers" / tool / "measure"
    done = subprocess.run(
        [*ALIKE, script], capture_output=True, text=True, env=environment, timeout=600
    )
    if done.returncode != 0:
        return {}, [f"{tool}: exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"]
    ns = {row["case"]: float(row["time_ns"]) for row in csv.DictReader(io.StringIO(done.stdout))}
    if tool in PYTHON_PEERS:
        return {case: Figure(value) for case, value in ns.items()}, []
    first, last = ns.pop("anchor_first"), ns.pop("anchor_last")
    off = 100 * abs(last / first - 1)
    notes = [f"{tool}: anchors differ by {off:.1f} %"] if off > 1 else []
    ns_per_cycle = (first + last) / 2 / ANCHOR_CYCLES
    return {case: Figure(value / ns_per_cycle) for case, value in ns.items()}, notes


def tools(builder: Builder, cpu: int) -> dict[str, Callable[[], tuple[Answers, list[str]]]]:
    """Everything that is measured, by name."""
    found: dict[str, Callable[[], tuple[Answers, list[str]]]] = {
        "hairspring time": lambda: hairspring_time(cpu)
    }
    found |= {name: lambda name=name: program(builder.programs[name], cpu) for name in LANGUAGES}  # type: ignore[misc]
    found["Python"] = lambda: python_program(cpu)
    found |= {name: lambda name=name: peer(name, cpu) for name in (*PEERS, *PYTHON_PEERS)}  # type: ignore[misc]
    return found


Found = dict[tuple[str, str], list[Figure]]


def run(record: Record, settings: Settings) -> None:
    """Everything at least three times, in a random order each time."""
    builder = Builder()
    builder.all()
    asked = tools(builder, settings.cpu)
    found: Found = {}
    raw: list[tuple[object, ...]] = []
    notes: list[str] = []
    for at in range(settings.times(3)):
        for name in random.Random(at).sample(list(asked), len(asked)):
            answers, said = asked[name]()
            load = os.getloadavg()[0]
            notes += [f"- repetition {at + 1}: {one}" for one in said]
            for case, one in answers.items():
                found.setdefault((name, case), []).append(one)
                raw.append((name, case, at, one.value, one.low, one.high, load, one.findings))
    record.csv(("tool", "case", "repetition", "value", "low", "high", "load", "findings"), raw)
    compiled(record, found)
    python(record, found)
    if notes:
        record.say("", *notes)


def middle(found: Found, tool: str, case: str) -> float:
    """Median of a tool's answers to a case."""
    return median(one.value for one in found.get((tool, case), []))


def cell(found: Found, tool: str, case: str, base: float) -> str:
    """Median, how far that is from the base in percent, and the spread of the answers."""
    values = [one.value for one in found.get((tool, case), [])]
    if not values:
        return ""
    here = median(values)
    spread = f"{min(values):.4g} to {max(values):.4g}"
    # There is no ratio to a time that cannot be distinguished from zero.
    ratio = f"{100 * (here / base - 1):+.2f} %; " if abs(base) > NOTHING_NS else ""
    return f"{here:.4g} ({ratio}{spread})"


def compiled(record: Record, found: Found) -> None:
    """Languages and peers that measure compiled code."""
    names = ("hairspring time", *LANGUAGES, *PEERS)
    rows = []
    for case, (truth, _) in CASES.items():
        base = middle(found, "hairspring time", case)
        rows.append(
            [
                case,
                "" if truth is None else f"{truth:.0f}",
                *(cell(found, tool, case, base) for tool in names),
            ]
        )
    title = "Cycles: median (against `hairspring time`; least to most)"
    record.table(title, ("case", "truth", *names), rows)
    header = (
        "language",
        "case",
        "off",
        "half-width",
        "its runs",
        "runs of `hairspring time`",
        "0.5 %",
        "explanation",
    )
    asked = [
        (language, case) for language in LANGUAGES for case in CASES if (language, case) in found
    ]
    record.table(
        "Languages against `hairspring time`", header, [judged(found, *one) for one in asked]
    )
    reached = sum(abs(distance(found, *one)) <= TARGET_PERCENT for one in asked)
    record.target(
        f"within {TARGET_PERCENT} % of `hairspring time`",
        reached == len(asked),
        f"{reached} of {len(asked)}",
    )
    reasons = [
        (tool, case, reason) for (tool, case), reason in REASONS.items() if (tool, case) in found
    ]
    record.table("Why a peer differs", ("tool", "case", "reason"), reasons)


def distance(found: Found, language: str, case: str) -> float:
    """How far a language's median is from that of `hairspring time`, in percent."""
    return 100 * (middle(found, language, case) / middle(found, "hairspring time", case) - 1)


def extent(figures: list[Figure]) -> tuple[float, float]:
    """Smallest and largest result."""
    values = [one.value for one in figures if one.value == one.value] or [float("nan")]
    return min(values), max(values)


def judged(found: Found, language: str, case: str) -> tuple[str, ...]:
    """A line of that table."""
    mine, base = found[language, case], found.get(("hairspring time", case), [])
    off = distance(found, language, case)
    halves = [100 * (one.high - one.low) / 2 / one.value for one in (*mine, *base)]
    untrusted = sum("untrusted" in one.findings for one in (*mine, *base))
    (least, most), (lowest, highest) = extent(mine), extent(base)
    explained = [CAUSES[case]] if case in CAUSES else []
    explained += [f"{untrusted} of {len(mine) + len(base)} results are marked as untrusted"] * bool(
        untrusted
    )
    explained += ["the runs of both overlap"] * (least <= highest and lowest <= most)
    reached = abs(off) <= TARGET_PERCENT
    return (
        language,
        case,
        f"{off:+.2f} %",
        f"{median(halves):.2f} %",
        f"{least:.5g} to {most:.5g}",
        f"{lowest:.5g} to {highest:.5g}",
        "reached" if reached else "missed",
        "" if reached else "; ".join(explained) or "none",
    )


def python(record: Record, found: Found) -> None:
    """Python beside its peers, in nanoseconds, and the chain that it calls in C, minus the call."""
    names = ("Python", *PYTHON_PEERS)
    rows = [
        [case, *(cell(found, tool, case, middle(found, "Python", case)) for tool in names)]
        for case in PYTHON_CASES
    ]
    record.table("Nanoseconds: median (against hairspring; least to most)", ("case", *names), rows)
    record.say(
        "timeit and pyperf time a loop, which `py_pass` and all others include. They have no "
        "init: `py_sort_16`",
        "includes the copy of the list. Here times include calls of Python's functions: "
        "`py_sort_16` is also a call.",
        "",
    )
    whole, call = (
        middle(found, "Python", "ctypes_chain_30000"),
        middle(found, "Python", "ctypes_empty"),
    )
    if whole == whole:
        off = 100 * ((whole - call) / CTYPES_CYCLES - 1)
        detail = f"{whole:.0f} cycles, {off:+.2f} % without the {call:.0f} of an empty call"
        what = f"Python: a C function of {CTYPES_CYCLES} cycles through ctypes, minus the call"
        record.target(f"{what}, within {TARGET_PERCENT} %", abs(off) <= TARGET_PERCENT, detail)
