"""A ReFrame test that runs hairspring and takes every series of its document as a variable."""
# mypy: disable-error-code="import-not-found,import-untyped"
# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False
# ReFrame has no types, and is not among the packages that the tests of a patch install.

import json
import math
import os
import re
import shlex
from collections.abc import Iterator
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_after, run_before, sanity_function, variable
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

# Verbs that write a document of their own accord, as far as they got.
WITH_DOCUMENT = ("run", "time")
FOLDER = "documents"


class HairspringTest(rfm.RunOnlyRegressionTest):
    """Runs `hairspring` with `arguments`; each series becomes three performance variables.

    `NAME` is the time, `NAME_low` and `NAME_high` are the ends of its interval, in core cycles
    where the machine has them, else in nanoseconds. A reference fails only if the whole interval
    lies outside of it: the upper tolerance is checked at `NAME_low`, the lower one at `NAME_high`.
    """

    #: The command on the machine where the job runs.
    hairspring = variable(str, value=os.environ.get("HAIRSPRING", "hairspring"))

    #: The command line behind it: a verb with its arguments, such as `["run", "./benchmarks"]`.
    arguments = variable(typ.List[str])

    #: References in core cycles: `{"6-207": {"sort": (5100, -0.02, 0.02)}}`. The key is a core
    #: family (`environment.cpu.family` of the document). `cluster:6-207` and
    #: `cluster:compute:6-207` are those of one system and of one partition, and go first.
    references = variable(typ.Dict[str, typ.Dict[str, tuple]], value={})

    #: Whether series with a finding `untrusted` pass the test.
    allow_untrusted = variable(typ.Bool, value=False)

    prerun_cmds: list[str]
    keep_files: list[str]

    #: One job has the machine, on Slurm and the like.
    exclusive_access = True
    num_tasks = 1

    @run_after("init")
    def set_command(self) -> None:
        """Makes the command line, in which the shell of the job changes nothing."""
        verb, *words = self.arguments
        options = ["--document", FOLDER] if verb in WITH_DOCUMENT else ["--json"]
        self.executable = shlex.quote(self.hairspring)
        self.executable_opts = [shlex.quote(word) for word in [verb, *options, *words]]
        if verb not in WITH_DOCUMENT:
            self.executable_opts += [">", f"{FOLDER}/{verb}.json"]
        self.prerun_cmds = [*self.prerun_cmds, f"mkdir -p {FOLDER}"]
        self.keep_files = [*self.keep_files, FOLDER]

    @sanity_function
    def has_a_trusted_document(self) -> bool:
        """One whole document with times that can be trusted."""
        document = read(self.stagedir, self.stderr.evaluate())
        if not document["results"]:
            raise SanityError("the document has no series")
        doubts = [] if self.allow_untrusted else list(untrusted(document))
        if doubts:
            raise SanityError("not to be trusted: " + "; ".join(doubts))
        return True

    @run_before("performance")
    def take_every_series(self) -> None:
        """Makes the variables, and their references on this partition."""
        document = read(self.stagedir, self.stderr.evaluate())
        partition = self.current_partition.fullname
        family = (document["environment"].get("cpu") or {}).get("family", "unknown")
        bounds = self.references_of(family)
        left = set(bounds)
        for name, time, unit in series(document):
            for end, value in ends(time).items():
                self.perf_variables[name + end] = sn.make_performance_function(
                    sn.defer(value), unit
                )
            if name in bounds and unit == "cycles":
                left.discard(name)
                for end, bound in bounded(bounds[name]).items():
                    self.reference[f"{partition}:{name}{end}"] = (*bound, unit)
        for name in sorted(left):
            getlogger().warning(f"{self.name}: the document has no cycles of {name}")
        if self.references and not bounds:
            getlogger().warning(f"{self.name}: no references for {family} on {partition}")

    def references_of(self, family: str) -> dict[str, tuple[Any, ...]]:
        """The references of a family, those of the partition before those of all systems."""
        system, partition = self.current_system.name, self.current_partition.fullname
        found: dict[str, tuple[Any, ...]] = {}
        for key in (family, f"{system}:{family}", f"{partition}:{family}"):
            found.update(self.references.get(key, {}))
        return found


def read(folder: str, errors: str) -> dict[str, Any]:
    """The only document of a job. What is wrong with it is a failure of its sanity."""
    place = os.path.join(folder, FOLDER)
    found = os.listdir(place) if os.path.isdir(place) else []
    names = [name for name in found if name.endswith(".json")]
    if len(names) != 1:
        raise SanityError(f"{len(names)} documents instead of one: {said(folder, errors)}")
    try:
        with open(os.path.join(place, names[0]), encoding="utf-8") as file:
            document = json.load(file)
    except ValueError as error:
        raise SanityError(f"{names[0]}: {error}: {said(folder, errors)}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if not str(schema).startswith("hairspring/result/"):
        raise SanityError(f"{names[0]} holds {schema}, which has no series of times")
    return dict(document)


def said(folder: str, errors: str) -> str:
    """The end of what the job wrote to standard error."""
    try:
        with open(os.path.join(folder, errors), encoding="utf-8", errors="replace") as file:
            return file.read()[-500:].strip() or "the job said nothing"
    except OSError:
        return "the job left no output"


def figures(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The times that are asked for, with names that ReFrame takes; equal ones are numbered."""
    seen: dict[str, int] = {}
    for one in document["results"]:
        asked = {
            name: figure for name, figure in one["components"].items() if not figure.get("serves")
        }
        for component, figure in asked.items():
            whole = one["name"] if len(asked) == 1 else f"{one['name']}.{component}"
            name = re.sub(r"[^A-Za-z0-9_.+-]+", "_", whole).strip("_") or "series"
            seen[name] = seen.get(name, 0) + 1
            yield name if seen[name] == 1 else f"{name}.{seen[name]}", figure


def series(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Name, estimate and unit of each time. One without an estimate is a failure."""
    for name, figure in figures(document):
        units = (("cycles", "cycles"), ("time_ns", "ns"), ("ticks", "ticks"))
        known = [(figure[key], unit) for key, unit in units if figure.get(key)]
        if not known:
            raise SanityError(f"{name} has no time: {figure.get('time_reason')}")
        yield name, *known[0]


def ends(estimate: dict[str, Any]) -> dict[str, float]:
    """The value and the ends of its interval, by the ending of the variable's name."""
    values = {"": "value", "_low": "low", "_high": "high"}
    unbounded = {"low": -math.inf, "high": math.inf}
    return {
        ending: float(unbounded[key] if estimate[key] is None else estimate[key])
        for ending, key in values.items()
    }


def bounded(reference: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
    """ReFrame's references of a value and of the ends of its interval."""
    value, lower, upper = reference[:3]
    return {"": (value, None, None), "_low": (value, None, upper), "_high": (value, lower, None)}


def untrusted(document: dict[str, Any]) -> Iterator[str]:
    """What is said of the series that cannot be trusted."""
    for one in document["results"]:
        if one.get("trusted") is False:
            messages = [
                finding["message"]
                for finding in one.get("findings", [])
                if finding.get("severity") == "untrusted"
            ]
            yield f"{one['name']}: {', '.join(messages) or 'no reason is given'}"
