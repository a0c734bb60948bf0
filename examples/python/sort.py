"""A sort needs its data in disorder again before every run: an init, whose time is separated
from the sort's.
"""

import hairspring

result = hairspring.time(
    "values.sort()",
    init="values = data[:]",
    setup="""
        import random
        data = [random.random() for _ in range(16)]
    """,
)
print(
    result.to_pandas()[["component", "time_ns", "time_ns_low", "time_ns_high", "cycles"]].to_string(
        index=False
    )
)
for finding in result.findings:
    print(f"{finding.severity}: {finding.message}\n  -> {finding.remedy}")
