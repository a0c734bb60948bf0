"""The magics `%hairspring` and `%%hairspring` of IPython and Jupyter: `%load_ext hairspring`."""

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)
from IPython.display import display

from hairspring import _native
from hairspring._measure import time
from hairspring._native import OptionError
from hairspring._result import Result

#: Options without a value, and with one; the short name of some.
FLAGS = {"-o": "return", "-q": "quiet", "--threads": "threads", "--no-pin": "no_pin", "--gc": "gc"}
VALUES = {
    "-s": "setup",
    "--setup": "setup",
    "-i": "init",
    "--init": "init",
    "--vs": "vs",
    "-b": "budget",
    "--budget": "budget",
    "-p": "precision",
    "--precision": "precision",
    "--confidence-level": "confidence_level",
    "--name": "name",
    "--clock": "clock",
    "--cpu": "cpu",
}
#: Words of `%timeit` that have no meaning here.
OF_TIMEIT = {
    "-n": "there are no loops: the number of copies comes from the design; -b TIME gives the time",
    "-r": "there are no repeats to choose: -b TIME gives the time for measuring",
    "-t": "--clock NAME chooses the clock",
}
#: Languages that the command compiles, by the option that chooses them.
LANGUAGES = {"--c": "c", "--cpp": "c++"}


@dataclass
class Asked:
    """What the line of a magic asks for."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)
    #: What stands behind the options, as it was written.
    code: str = ""

    def one(self, name: str, default: str | None = None) -> str | None:
        """The value of an option, the last if it was given several times."""
        return self.values.get(name, [default])[-1]

    def lines(self, name: str) -> str | None:
        """The values of an option as lines of code."""
        return "\n".join(self.values[name]) if name in self.values else None


def read_line(line: str) -> Asked:
    """Reads the options in front of a statement, which keeps its quotes and blanks."""
    asked = Asked()
    while option_match := re.match(r"\s*(--?[A-Za-z][A-Za-z-]*)(=|(?=\s|$))", line):
        option, line = option_match[1], line[option_match.end() :]
        if option in FLAGS:
            asked.flags.add(FLAGS[option])
        elif option in VALUES:
            value, line = first_word(option, line)
            asked.values.setdefault(VALUES[option], []).append(value)
        else:
            raise UsageError(unknown(option))
    asked.code = re.sub(r"^\s*--(\s+|$)", "", line).strip()
    return asked


def unknown(option: str) -> str:
    """What is wrong with an option, and what to do."""
    if option in LANGUAGES:
        return f"{option} is the first word of the line: %%hairspring {option} ..."
    known = ", ".join([*LANGUAGES, *FLAGS, *VALUES])
    why = OF_TIMEIT.get(option, f"the options are {known}")
    return f"there is no option {option}: {why}; a statement that begins so stands behind --"


def first_word(option: str, line: str) -> tuple[str, str]:
    """The first word as a shell reads it, and the rest of the line."""
    stream = StringIO(line)
    words = shlex.shlex(stream, posix=True)
    words.whitespace_split, words.commenters = True, ""
    try:
        word = words.get_token()
    except ValueError as error:
        raise UsageError(f"{option}: {error} in {line.strip()}") from error
    if word is None:
        raise UsageError(f"{option} needs a value")
    return word, line[stream.tell() :]


@magics_class
class HairspringMagics(Magics):
    """The magics."""

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def hairspring(
        self, line: str = "", cell: str | None = None, local_ns: dict[str, Any] | None = None
    ) -> Result | None:
        """Measures an expression or statement of the notebook, or a cell, or C or C++ code.

            %hairspring [OPTIONS] STATEMENT

            %%hairspring [OPTIONS] [SETUP]
            STATEMENTS

            %%hairspring --c [OPTIONS OF `hairspring time`]
            CODE IN C                                          (--cpp for C++)

        Options: -o returns the result, and shows it in one line; -q shows nothing; -s CODE runs
        once; -i CODE runs before every copy, and is timed separately; --vs CODE is an alternative
        in the same rounds; -b TIME for measuring, such as 250ms; -p SHARE to reach, such as 1%;
        --confidence-level, --name, --clock, --cpu, --threads, --no-pin, --gc as in
        `hairspring.time`. Options with a value may be given several times where they are code.
        """
        first, _, rest = line.strip().partition(" ")
        if first in LANGUAGES:
            flags, words = of_command(rest)
            result = by_command(LANGUAGES[first], words, cell)
        else:
            asked = read_line(line)
            flags, result = asked.flags, self._measured(asked, cell, local_ns)
        return shown(result, flags)

    def _measured(self, asked: Asked, cell: str | None, local_ns: dict[str, Any] | None) -> Result:
        setup = asked.lines("setup")
        if cell is not None and asked.code:
            setup = asked.code if setup is None else f"{setup}\n{asked.code}"
        code = self._python(asked.code if cell is None else cell)
        if not code.strip():
            raise UsageError("there is no code to measure: %hairspring STATEMENT, or a cell")
        cpu = asked.one("cpu")
        try:
            return time(
                code,
                init=asked.lines("init"),
                setup=setup,
                globals=namespace(self.shell, local_ns),
                against=asked.values.get("vs"),
                name=asked.one("name"),
                budget=asked.one("budget") or "500ms",
                precision=asked.one("precision"),
                confidence_level=asked.one("confidence_level") or 0.95,
                clock=asked.one("clock"),
                cpu=None if cpu is None else whole("--cpu", cpu),
                threads="threads" in asked.flags,
                pin="no_pin" not in asked.flags,
                gc="gc" in asked.flags,
            )
        except OptionError as error:
            raise UsageError(str(error)) from error

    def _python(self, code: str) -> str:
        """Code without the syntax that IPython adds to Python."""
        shell: Any = self.shell
        return code if shell is None else str(shell.transform_cell(code)).rstrip("\n")


def namespace(
    shell: InteractiveShell | None, local_ns: dict[str, Any] | None
) -> dict[str, Any] | None:
    """The names that the code sees: those of the notebook, and of the function around the magic."""
    if shell is None:
        return None
    names: dict[str, Any] = shell.user_ns
    return names if local_ns is None or local_ns is names else {**names, **local_ns}


def whole(option: str, text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"{option} {text}: expected a whole number") from error


def shown(result: Result, flags: set[str]) -> Result | None:
    """Shows a result as the flags ask for; returns it if they do."""
    if "quiet" not in flags:
        if "return" in flags:
            print(repr(result))
        else:
            display(result)  # type: ignore[no-untyped-call, unused-ignore]
    return result if "return" in flags else None


# ---- C and C++


def of_command(line: str) -> tuple[set[str], list[str]]:
    """The flags of the magic, and the words that the command gets."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{error} in {line}") from error
    own = [word for word in words if word in ("-o", "-q")]
    return {FLAGS[word] for word in own}, [word for word in words if word not in own]


def by_command(language: str, words: list[str], cell: str | None) -> Result:
    """Measures code with the command `hairspring time`."""
    code = [] if cell is None else ["--", cell.strip()]
    with tempfile.TemporaryDirectory(prefix="hairspring") as folder:
        readings = Path(folder) / "readings.csv"
        is_saved = not any(word.startswith("--processes") for word in words)
        save = ["--save", str(readings)] if is_saved else []
        process = subprocess.run(
            [command(), "time", "--lang", language, "--json", *save, *words, *code],
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode not in (0, 3) or not process.stdout:
            reason = process.stderr.strip() or f"it ended with status {process.returncode}"
            raise UsageError(f"hairspring time: {reason}")
        print(process.stderr, end="", file=sys.stderr)
        table = readings if readings.exists() else None
        return Result(_native.read_report(process.stdout, table, process.returncode == 0))


def command() -> str:
    """The command `hairspring`: that of this environment, else one on the path."""
    own_path = shutil.which("hairspring", path=sysconfig.get_path("scripts"))
    found_path = own_path or shutil.which("hairspring")
    if found_path is None:
        raise UsageError(
            "the command `hairspring` is not installed: C and C++ are compiled and measured by it; "
            "the wheel of this package has it, and so has ./install"
        )
    return found_path
