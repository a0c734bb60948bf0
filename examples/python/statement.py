"""The time of a statement: the report, and its figures for further work."""

import hairspring

result = hairspring.time("total = sum(numbers)", setup="numbers = list(range(100))")
print(result)

time = result.body.time_ns
assert time is not None, "the clock's rate is known wherever code is measured"
print(
    f"sum of 100 numbers: {time.value:.4g} ns, from {time.low:.4g} to {time.high:.4g} ns at "
    f"{time.level:.0%}"
)
print(f"one number: {time.value / 100:.3g} ns")

readings = result.observations
print(
    f"{len(readings)} readings of {', '.join(readings.series_names)}; "
    f"{(readings.flags > 0).mean():.1%} disturbed"
)
