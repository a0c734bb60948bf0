"""Observations from any source: how often each part ran, and the reading. Here two parts with
made-up times.
"""

import hairspring
import numpy as np

random = np.random.default_rng(1)
reads = random.integers(1, 20, size=200)
writes = random.integers(1, 20, size=200)
ticks = 12.5 * reads + 40.0 * writes + 300.0 + random.normal(0, 2, size=200)

result = hairspring.fit(
    np.column_stack([reads, writes, ticks]), components=["read", "write"], rate_hz=16e6
)
for name, component in result.components.items():
    print(f"{name:6} {component.time_ns} ns")
assert result.overhead is not None
print(f"{'fixed':6} {result.overhead.time_ns} ns")
