"""Whether `hairspring blocks` gives a useful answer about real programs in 30 s and 500 MB."""

import json
import math
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
from harness import Record, Settings, installed, refusal

SUM = (
    "with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) select sum(x "
    "* x % 7) from c;"
)
LUA = "local t = {} for i = 1, 20000 do t[i] = i % 7 == 0 and i * 2 or i // 3 end print(#t)"
PYTHON = (
    "f = lambda i: i * 2 if i % 7 else sum(range(i % 5)); print(sum(f(i) for i in range(3000)))"
)
LOOP = "exec('s = 0\\nfor i in range(20000):\\n s += i * 3 % 7 if i & 1 else i >> 1\\nprint(s)')"
TEXT = "the quick brown fox jumps over the lazy dog, and then "
MOST_SECONDS = 30
MOST_MIB = 500
# Share of the instructions whose time an answer has to give.
LEAST_SHARE = 50
# Half-width of a time that says something, as a share of the time, and of a mean call.
WIDEST, WIDEST_OF_CALL = 0.5, 0.05
RULE = (
    "An answer is useful if the command ends well in 30 s and 500 MiB, has no finding "
    "`untrusted`, and gives times: "
    "within 50 % or 5 % of a call, of blocks (alone, with those that run equally often, or with "
    "those that their runs "
    "come with) that make up at least 50 % of the instructions that ran, in two or more parts or "
    "on a single path; or "
    "with a range, of two or more paths that 90 % of the calls took."
)


@dataclass
class Case:
    """A function in a program, and the options that suit it."""

    program: str
    function: str
    arguments: tuple[str, ...]
    options: tuple[str, ...]


def cases(text: str, numbers: str) -> list[Case]:
    """Programs of Debian; they read these files. Addresses are those of Debian 12, where a
    program has no names.
    """
    return [
        Case("sqlite3", "sqlite3VdbeExec", (":memory:", SUM), ("--parts", "40")),
        Case(
            "python3",
            "_PyEval_EvalFrameDefault",
            ("-S", "-c", PYTHON),
            ("--calls", "200", "--sample"),
        ),
        Case(
            "python3",
            "_PyEval_EvalFrameDefault",
            ("-S", "-c", LOOP),
            ("--parts", "40", "--longest"),
        ),
        Case("lua5.4", "0x1b3a0", ("-e", LUA), ("--parts", "40")),
        Case("pigz", "libz.so.1:0x4970", ("-p1", "-kc", text), ("--calls", "100", "--sample")),
        Case("jq", "jq_next", (".[] | . * 2", numbers), ("--calls", "200", "--sample")),
        Case(
            "jq",
            "jq_next",
            ("-n", "[range(20000) | . * 2 % 7] | add"),
            ("--parts", "40", "--longest"),
        ),
        Case("bzip2", "BZ2_blockSort", ("-kc", text), ()),
        Case("gzip", "0x4290", ("-kc", text), ("--calls", "100", "--sample")),
        Case("rg", "0x237950", ("-j1", "-c", "d[aeiou]g.*9", text), ("--calls", "100", "--sample")),
        Case("sort", "0x9a00", ("--parallel=1", "-k3", text), ("--calls", "100", "--sample")),
    ]


@dataclass
class Run:
    """One run of the command."""

    document: dict[str, Any] | None
    said: str
    wall_s: float
    peak_mib: float


def descendants(process: int) -> list[int]:
    """A process and all that it started."""
    found = [process]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found.extend(int(child) for child in children.read_text().split())
            except OSError:
                continue
    return found


def memory_mib(process: int) -> float:
    """Memory of a process and all that it started; pages that several share count once."""
    kib = 0
    for one in descendants(process):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it has ended
        kib += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kib / 1024


def watched(command: list[str], folder: Path) -> Run:
    """Runs the command, and looks at its memory four times a second."""
    begin, peak = time.monotonic(), 0.0
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        with subprocess.Popen(command, stdout=out, stderr=err) as running:
            while running.poll() is None:
                peak = max(peak, memory_mib(running.pid))
                if time.monotonic() - begin > 4 * MOST_SECONDS:
                    running.kill()
                time.sleep(0.25)
        wall = time.monotonic() - begin
        out.seek(0)
        err.seek(0)
        text = out.read()
        if running.returncode not in (0, 3) or not text:
            return Run(None, refusal(running.returncode, err.read()), wall, peak)
    return Run(json.loads(text), "", wall, peak)


def says_something(component: dict[str, Any]) -> bool:
    """Whether a time is known within a share of itself, or of a mean call."""
    time = component["time"] and (component["time"]["cycles"] or component["time"]["time_ns"])
    if not time:
        return False
    half, size = (time["high"] - time["low"]) / 2, abs(time["value"])
    of_call = (
        half / size * abs(component["share"])
        if size and component["share"] is not None
        else math.inf
    )
    return half <= WIDEST * size or of_call <= WIDEST_OF_CALL


def share_told(document: dict[str, Any]) -> float:
    """Share of the instructions, in percent, in blocks with a time: of their own, or with blocks
    that run with them.
    """
    timed = {part["name"] for part in document["components"] if says_something(part)}
    clear = ("alone", "merged", "together", "common")
    if len(timed) < 2 and len(document["paths"]) > 1:
        return 0.0
    told = {
        part["name"]
        for part in document["parts"]
        if part["place"] in clear and part["component"] in timed
    }
    return 100 * sum(
        float(block["instruction_share"]) for block in document["blocks"] if block["name"] in told
    )


def tells_paths(document: dict[str, Any]) -> bool:
    """Whether several paths have a time, and most calls took one of them; parts of a call
    (`--from`) are no calls.
    """
    paths = [path for path in document["paths"] if path["low_ticks"] is not None]
    calls = sum(path["calls"] for path in paths)
    return (
        document["inputs"]["from"] is None
        and len(paths) > 1
        and calls >= 0.9 * document["inputs"]["calls"]
    )


def judged(run: Run) -> tuple[bool, str]:
    """Whether an answer is useful by the rule, and what stands against it."""
    against = []
    if run.document is None:
        against.append(run.said)
    else:
        against += [
            finding["kind"]
            for finding in run.document["findings"]
            if finding["severity"] == "untrusted"
        ]
        share = share_told(run.document)
        if share < LEAST_SHARE and not tells_paths(run.document):
            against.append(f"{share:.0f} % of the instructions have a time")
    if run.wall_s > MOST_SECONDS:
        against.append("too slow")
    if run.peak_mib > MOST_MIB:
        against.append("too much memory")
    return not against, "; ".join(against)


def row(case: Case, folder: Path, cpu: int) -> tuple[bool, list[str | int]]:
    """Whether a case is useful, and its row of the table."""
    program = installed(case.program)
    named: list[str | int] = [case.program, case.function, " ".join(case.options)]
    if program is None:
        return False, [*named, "", "", "", "", "the program is not installed"]
    inputs = folder / "inputs"
    inputs.write_text(shlex.join(case.arguments) + "\n")
    command = [
        harness.COMMAND,
        "blocks",
        program,
        "--function",
        case.function,
        "--inputs",
        str(inputs),
    ]
    run = watched([*command, *case.options, "--cpu", str(cpu), "--json"], folder)
    useful, against = judged(run)
    share, paths = "", ""
    if run.document is not None:
        share, paths = f"{share_told(run.document):.0f}", str(len(run.document["paths"]))
    return useful, [
        *named,
        f"{run.wall_s:.1f}",
        f"{run.peak_mib:.0f}",
        share,
        paths,
        "useful" if useful else against,
    ]


def run(record: Record, settings: Settings) -> None:
    """Asks for the blocks of each program."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, numbers = folder / "text", folder / "numbers.json"
        text.write_text("".join(f"{n} {TEXT}{n * n % 977}\n" for n in range(400)))
        numbers.write_text("[" + ",".join(str(n * 37 % 101) for n in range(300)) + "]\n")
        told = [row(case, folder, settings.cpu) for case in cases(str(text), str(numbers))]
    header = (
        "program",
        "function",
        "options",
        "s",
        "MiB",
        "% with a time",
        "paths with a time",
        "what",
    )
    rows = [cells for _, cells in told]
    record.csv(header, rows)
    record.say("", RULE)
    record.table("Useful answers about real programs", header, rows)
    useful = sum(1 for is_useful, _ in told if is_useful)
    record.target(
        "a useful answer in 30 s and 500 MiB",
        useful == len(told),
        f"{useful} of {len(told)} programs",
    )
