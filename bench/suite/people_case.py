"""A piece of code that people asked about in public, in the form of a loop and of arguments."""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import loops

SCALARS = {
    *"bool char short int long unsigned signed float double size_t uint32_t uint64_t "
    "int64_t int32_t uint8_t".split()
}


def is_scalar(let: str) -> bool:
    """Whether a declaration is that of a number or of a pointer."""
    declarator = let.partition("=")[0]
    words = declarator.replace("*", " ").split()[:-1]
    is_number = bool(words) and all(word in SCALARS for word in words)
    return (
        "[" not in declarator
        and "(" not in declarator
        and "<" not in declarator
        and (is_number or "*" in declarator)
    )


@dataclass(frozen=True)
class Person:
    """What somebody timed, and where that was reported. `opaque` are variables that a loop keeps
    in registers.
    """

    name: str
    report: str
    code: str
    lets: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()
    init: str = ""
    head: str = ""
    setup: str = ""
    # Whether the loop has scalars in memory: where their addresses are taken, or where they go on
    # from loop to loop.
    in_memory: bool = False

    def loop(self) -> loops.Case:
        """As a loop has it: scalars are in registers, as `--let` has them, unless their address
        is taken.
        """
        taken = {
            loops.name_of(let)
            for let in self.lets
            if f"&{loops.name_of(let)}" in self.code.replace("& ", "&")
        }
        scalars = [loops.name_of(let) for let in self.lets if is_scalar(let) and not self.in_memory]
        opaque = dict.fromkeys(name for name in (*self.opaque, *scalars) if name not in taken)
        return loops.Case(self.code, self.lets, tuple(opaque), self.init)


# Cycles of the loops of a case: least and most with the code at one place, at eight and at 64.
Truth = list[tuple[float, float]]


def program(person: Person) -> str:
    """A program with the loops of one case."""
    text = loops.source([person.loop()])
    if person.setup:
        text = text.replace(
            "__asm__ volatile(MOVED);", f"{{ {person.setup}; }} __asm__ volatile(MOVED);"
        )
    return text.replace("static double chain()", f"{person.head}\nstatic double chain()", 1)


def truth(folder: Path, cpu: int, person: Person) -> Truth:
    """The cycles of one case in loops at two places of a cache line, in two processes each:
    heaps and stacks differ.
    """
    (folder / "loop.cpp").write_text(program(person))
    tables: list[list[float]] = []
    for shift in (0, 32):
        path = str(folder / f"loop{shift}")
        moved = f'-DMOVED="{f".skip {shift}, 0x90" if shift else ""}"'
        build = (
            "g++",
            "-O2",
            "-std=c++17",
            "-w",
            moved,
            str(folder / "loop.cpp"),
            "-o",
            path,
            "-pthread",
            "-lm",
        )
        subprocess.run(build, check=True, capture_output=True)
        command = ("taskset", "-c", str(cpu), path)
        runs = [
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for _ in range(2)
        ]
        tables.extend([float(word) for word in run.split()] for run in runs)
    return [(min(figures), max(figures)) for figures in zip(*tables, strict=True)]


def arguments(person: Person, folder: Path) -> tuple[str, ...]:
    """The arguments of `hairspring time` for the same code; its definitions go into a file in
    the folder.
    """
    words = loops.arguments(person.loop())
    if person.head:
        file = Path(tempfile.mkstemp(suffix=".cpp", dir=folder)[1])
        file.write_text(
            "".join(f"#include <{name}>\n" for name in loops.INCLUDES) + person.head + "\n"
        )
        words = (*words, "--file", str(file))
    setup = ("--setup", person.setup) if person.setup else ()
    return (*words, *setup, "--link=-lm -pthread", "--cflags=-O2 -std=c++17")
