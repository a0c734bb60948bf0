"""Error budgets of experiments: how often the total of a run's budget covers its distance from the
middle of all runs."""

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness import Record, Settings, median, run_json, share

TARGET_PERCENT = 90.0
USUAL_RUNS = 100
HEADER = ("case", "run", "unit", "value", "total", "trusted", "largest", "findings", "error")
CHAIN = ("--let", "uint64_t x = 3", "--let", "uint64_t c = 5")
LIBM = ("--include", "math.h", "--link", "-lm", "--let", "double x = 2.5")


@dataclass(frozen=True)
class Case:
    """An experiment: what is expected, the words of its verb, and the place of its figure if
    that is no result.
    """

    model: str
    words: tuple[str, ...]
    figure: str = ""

    def file(self, name: str, cpu: int) -> str:
        """The file of the experiment."""
        words = ", ".join(f"'{word}'" for word in (*self.words, "--cpu", str(cpu)))
        figure = f'figure = "{self.figure}"\n' if self.figure else ""
        texts = (
            f'name = "{name}"\nneed = "coverage of the budget"\nquantity = "{name}"\n'
            'accuracy.required = "5 %"\n'
        )
        return f'{texts}expectation.model = "{self.model}"\n[setup]\nverb = [{words}]\n{figure}'


CASES = {
    "multiplication, cycles": Case("3 cycles", ("time", "x = x * c", *CHAIN)),
    "multiplication, ns": Case("1 ns +- 1 ns", ("time", "x = x * c", *CHAIN)),
    "division, cycles": Case("18 cycles +- 18 cycles", ("time", "x = x / c + 1000003", *CHAIN)),
    "sin, cycles": Case("50 cycles +- 50 cycles", ("time", "x = sin(x)", *LIBM)),
    "core clock": Case("3 GHz +- 2 GHz", ("mhz",), "/results/0/any_run_core_hz"),
    "switch, ns": Case("2 us +- 2 us", ("switch",), "/results/0/costs/0/time_ns"),
    "switch, cycles": Case("8000 cycles +- 8000 cycles", ("switch",), "/results/0/costs/0/cycles"),
    "switch beside a counter, ns": Case(
        "3 us +- 3 us", ("switch",), "/results/0/check/by_clock_ns"
    ),
}


@dataclass(frozen=True)
class Run:
    """One run of an experiment."""

    unit: str = ""
    value: float = float("nan")
    total: float = float("nan")
    trusted: bool = False
    largest: str = ""
    findings: int = 0
    error: str = ""


def experiment(file: Path) -> Run:
    """One `hairspring experiment`."""
    document, error, _ = run_json("experiment", str(file))
    if document is None:
        return Run(error=error)
    measured = document["measurement"]
    largest = max(measured["budget"], key=lambda entry: float(entry["share"]))
    return Run(
        document["unit"],
        measured["value"]["value"],
        measured["total"],
        measured["trusted"],
        largest["source"],
        len(measured["findings"]),
    )


def covered(runs: list[Run]) -> list[bool]:
    """For each run, whether its total reaches the median of all runs."""
    middle = median(run.value for run in runs)
    return [abs(run.value - middle) <= run.total for run in runs if not run.error]


def measured(settings: Settings, times: int) -> dict[str, list[Run]]:
    """All cases in turn, so that slow changes of the machine meet all of them."""
    found: dict[str, list[Run]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{at}.toml" for at, name in enumerate(CASES)}
        for name, case in CASES.items():
            files[name].write_text(case.file(name, settings.cpu))
        for _ in range(times):
            for name, file in files.items():
                found[name].append(experiment(file))
    return found


def run(record: Record, settings: Settings) -> None:
    """The total of the budget of each case against how its runs scatter."""
    times = settings.times(USUAL_RUNS)
    found = measured(settings, times)
    raw = [
        (
            name,
            at,
            one.unit,
            one.value,
            one.total,
            one.trusted,
            one.largest,
            one.findings,
            one.error,
        )
        for name, runs in found.items()
        for at, one in enumerate(runs)
    ]
    record.csv(HEADER, raw)
    columns = (
        "case",
        "runs with a figure",
        "median",
        "spread (95 %)",
        "total, median",
        "covered",
        "trusted",
        "of these covered",
        "largest line",
    )
    record.table(
        "The total of the budget against the spread of the runs",
        columns,
        [row(*item) for item in found.items()],
    )
    without = [name for name, runs in found.items() if all(one.error for one in runs)]
    if without:
        record.say(f"No run has a figure: {', '.join(without)}. {found[without[0]][0].error}")
    everything = [flag for runs in found.values() for flag in covered(runs)]
    trusted = [
        flag for runs in found.values() for flag in covered([one for one in runs if one.trusted])
    ]
    detail = f"{times} runs of {len(CASES)} cases"
    record.target(
        f"the total covers {TARGET_PERCENT:.0f} % of all runs",
        not without and share(everything) >= TARGET_PERCENT,
        f"{share(everything):.0f} %; {detail}",
    )
    record.target(
        f"the total covers {TARGET_PERCENT:.0f} % of trusted runs",
        not without and share(trusted) >= TARGET_PERCENT,
        f"{share(trusted):.0f} %, {len(trusted)} runs",
    )


def row(name: str, runs: list[Run]) -> tuple[object, ...]:
    """One row of the table."""
    values = [one.value for one in runs if not one.error]
    middle = median(values)
    spread = 1.96 * statistics.stdev(values) if len(values) > 1 else float("nan")
    lines = [one.largest for one in runs if not one.error]
    trusted = [one for one in runs if one.trusted]
    return (
        name,
        len(values),
        f"{middle:.5g} {next((one.unit for one in runs if one.unit), '')}",
        f"+-{100 * spread / middle:.2g} %",
        f"+-{100 * median(one.total for one in runs) / middle:.2g} %",
        f"{share(covered(runs)):.0f} %",
        len(trusted),
        f"{share(covered(trusted)):.0f} %",
        statistics.mode(lines) if lines else "",
    )
