"""Two checks: a piece of code in C, and a program with benchmarks that is sent along."""
# mypy: disable-error-code="import-not-found,import-untyped"
# mypy: disallow-untyped-decorators=False

import reframe as rfm
from hairspring_reframe import HairspringTest


@rfm.simple_test
class Multiply(HairspringTest):
    """A chain of multiplications of 64 bits takes 3 cycles on each x86-64 that is in use."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    arguments = ["time", "x = x * c", "--let", "uint64_t x = 3", "--let", "uint64_t c = 5"]
    references = {"6-207": {"code": (3, -0.03, 0.03)}}


@rfm.simple_test
class Program(HairspringTest):
    """The benchmarks of a program, which is copied to the machine with its folder."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = "programs"
    arguments = ["run", "./benchmarks", "--processes", "2"]
