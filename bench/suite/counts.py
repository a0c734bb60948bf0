"""How often the blocks of real programs run in a call, against callgrind, which counts every
instruction.
"""

import shlex
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from harness import Record, Settings, installed, run_json

WORDS = "my %h; $h{sprintf('%05d %s', $_, $_ * 1.5)}++ for 1..50; print scalar(keys %h)"
TABLE = (
    "create table t(a,b); insert into t values(1,'x'),(2,'y'); select printf('%08.3f %s', a, b) "
    "from t order by b;"
)
SUM = (
    "with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) select sum(x "
    "* x % 7) from c;"
)
TEXT = "the quick brown fox jumps over the lazy dog, and then "


@dataclass
class Case:
    """The first call of a function in a program."""

    program: str
    function: str
    arguments: tuple[str, ...]


def cases(text: str, packed: str, numbers: str) -> list[Case]:
    """Programs of Debian; they read these files."""
    return [
        Case("grep", "pcre2_compile_8", ("-cP", "(fox|dog).*?l[a-z]+y(?= dog)", text)),
        Case("bzip2", "BZ2_blockSort", ("-kc", text)),
        Case("bzip2", "BZ2_compressBlock", ("-kc", text)),
        Case("bzip2", "BZ2_hbMakeCodeLengths", ("-kc", text)),
        Case("bzip2", "BZ2_decompress", ("-dkc", packed)),
        Case("pigz", "deflate", ("-p1", "-kc", text)),
        Case("jq", "jq_next", (".[] | . * 2", numbers)),
        Case("jq", "jv_parser_next", (".[0]", numbers)),
        Case("sqlite3", "sqlite3VdbeExec", (":memory:", SUM)),
        Case("sqlite3", "sqlite3_str_vappendf", (":memory:", TABLE)),
        Case("sqlite3", "sqlite3Parser", (":memory:", TABLE)),
        Case("perl", "Perl_hv_common", ("-e", WORDS)),
        Case("perl", "Perl_sv_vcatpvfn_flags", ("-e", WORDS)),
        Case("perl", "Perl_yylex", ("-e", WORDS)),
        Case("perl", "Perl_runops_standard", ("-e", WORDS)),
        Case("openssl", "EVP_EncodeUpdate", ("base64", "-in", text)),
    ]


def by_callgrind(program: str, case: Case, folder: Path) -> Counter[int]:
    """How often each instruction of the function ran up to the end of its first call, by its
    address in the file.
    """
    out = folder / "callgrind"
    given = [
        "valgrind",
        "--tool=callgrind",
        "--dump-instr=yes",
        "--dump-line=no",
        "--compress-pos=no",
    ]
    # Else what a call by way of the PLT takes there counts at the call.
    given += ["--compress-strings=no", "--skip-plt=no"]
    given += [f"--dump-after={case.function}", f"--callgrind-out-file={out}"]
    subprocess.run([*given, program, *case.arguments], capture_output=True, check=True, timeout=300)
    counts: Counter[int] = Counter()
    is_own = is_call = False
    for line in Path(f"{out}.1").read_text(errors="replace").splitlines():
        if line.startswith("fn="):
            is_own = line.removeprefix("fn=").split("'")[0] == case.function
        elif line.startswith("calls="):
            is_call = True  # the next line is what the callee took
        elif line.startswith("0x"):
            if is_own and not is_call:
                address, count = line.split()[:2]
                counts[int(address, 16)] += int(count)
            is_call = False
    return counts


def by_blocks(program: str, case: Case, folder: Path, cpu: int) -> dict[int, float] | str:
    """How often each block of the function ran in its first call, by its address in the file; or
    the error.
    """
    inputs = folder / "inputs"
    inputs.write_text(shlex.join(case.arguments) + "\n")
    given = ["blocks", program, "--function", case.function, "--inputs", str(inputs)]
    document, said, _ = run_json(*given, "--cpu", str(cpu), "--budget", "200ms", "--timeout", "30s")
    if document is None:
        return said
    return {int(block["address"], 16): block["runs"] for block in document["blocks"]}


def compared(case: Case, folder: Path, cpu: int) -> list[str | int]:
    """A row of the table."""
    program = installed(case.program)
    named = [case.program, case.function]
    if program is None:
        return [*named, "", "", "", "the program is not installed"]
    own = by_blocks(program, case, folder, cpu)
    if isinstance(own, str):
        return [*named, "", "", "", own]
    true = by_callgrind(program, case, folder)
    differ = [hex(address) for address, runs in own.items() if runs != true[address]]
    return [
        *named,
        len(own),
        sum(1 for runs in own.values() if runs > 0),
        len(differ),
        " ".join(differ[:5]),
    ]


def run(record: Record, settings: Settings) -> None:
    """Compares the counts of each program."""
    if which("valgrind") is None:
        record.target(
            "counts equal to callgrind's", reached=False, detail="valgrind is not installed"
        )
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text, packed, numbers = folder / "text", folder / "text.bz2", folder / "numbers.json"
        text.write_text("".join(f"{n} {TEXT}{n * n % 977}\n" for n in range(400)))
        packed.write_bytes(
            subprocess.run(["bzip2", "-kc", str(text)], capture_output=True, check=True).stdout
        )
        numbers.write_text("[" + ",".join(str(n * 37 % 101) for n in range(300)) + "]\n")
        rows = [
            compared(case, folder, settings.cpu)
            for case in cases(str(text), str(packed), str(numbers))
        ]
    header = ("program", "function", "blocks", "reached", "with another count", "what")
    record.csv(header, rows)
    record.table("Counts of blocks against callgrind", header, rows)
    told = [row for row in rows if row[2] != ""]
    equal = sum(1 for row in told if row[4] == 0)
    record.target(
        "counts equal to callgrind's",
        equal == len(rows),
        f"{equal} of {len(rows)} ({len(told)} told)",
    )
