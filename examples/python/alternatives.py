"""Two ways to join words, measured in the same rounds and compared by the interval of their
ratio.
"""

import hairspring

result = hairspring.time(
    "'-'.join(words)",
    against={"f-string": "f'{words[0]}-{words[1]}'", "plus": "words[0] + '-' + words[1]"},
    setup="words = ['left', 'right']",
    name="join",
)
for name, series in result.series.items():
    print(f"{name:10} {series.body.time_ns} ns")
for comparison in result.comparisons:
    print(f"{comparison.a} / {comparison.b}: {comparison.ratio}, {comparison.verdict}")
