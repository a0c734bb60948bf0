"""Neighbours that disturb a measurement: `busy`, `bursty` (busy 5 ms, asleep 5 ms), `thrash`
(copies 64 MiB), `compile` (runs a compiler).

As a command, `neighbour.py KIND CPU` is such a neighbour.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

KINDS = ("busy", "bursty", "thrash", "compile")
# Neighbours, and whether each is on the CPU of the measurement.
SITUATIONS: dict[str, tuple[str, bool] | None] = {
    "quiet": None,
    "busy, same CPU": ("busy", True),
    "bursty, same CPU": ("bursty", True),
    "thrash, same CPU": ("thrash", True),
    "busy, other CPU": ("busy", False),
    "bursty, other CPU": ("bursty", False),
    "thrash, other CPU": ("thrash", False),
}
SOURCE = (
    "#include <algorithm>\n#include <map>\n#include <string>\nstd::map<std::string, int> all;\n"
)
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@contextmanager
def neighbour(kind: str, cpu: int) -> Iterator[int]:
    """A neighbour on that CPU while the block runs; yields its process id."""
    process = subprocess.Popen([sys.executable, __file__, kind, str(cpu)])
    try:
        time.sleep(0.3)
        yield process.pid
    finally:
        process.kill()
        process.wait()


def other(cpu: int, folder: Path = Path("/sys/devices/system/cpu")) -> int:
    """The other hardware thread of that CPU's core, or another CPU if the system tells of none."""
    listed = folder / f"cpu{cpu}/topology/thread_siblings_list"
    threads = re.findall(r"\d+", listed.read_text()) if listed.exists() else []
    return next((int(one) for one in threads if int(one) != cpu), (cpu or 2) - 1)


def situation(name: str, cpu: int) -> AbstractContextManager[object]:
    """The neighbour of one of the situations, for a measurement on that CPU."""
    found = SITUATIONS[name]
    return nullcontext() if found is None else neighbour(found[0], cpu if found[1] else other(cpu))


def cpu_seconds(pid: int) -> float:
    """User and system time of a process (proc(5): fields 14 and 15)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def raise_priority() -> None:
    """Raises the priority as high as the measurement does, so that the scheduler gives each half
    of the CPU.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except PermissionError:
        pass


def end_with_parent() -> None:
    """Lets the system kill this process when the benchmark ends, also when it is killed."""
    set_parent_death_signal = 1  # prctl(2)
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def work(kind: str, cpu: int) -> None:
    """Disturbs until it is killed."""
    end_with_parent()
    os.sched_setaffinity(0, {cpu})
    if kind != "compile":  # as a user compiles
        raise_priority()
    if kind == "thrash":
        first, second = bytearray(64 << 20), bytearray(64 << 20)
        while True:
            first[:], second[:] = second, first
    while kind == "compile":
        subprocess.run(
            ["c++", "-O2", "-x", "c++", "-c", "-", "-o", os.devnull], input=SOURCE, text=True
        )
    while True:
        end = time.perf_counter() + 0.005
        while time.perf_counter() < end or kind == "busy":
            pass
        time.sleep(0.005)


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
