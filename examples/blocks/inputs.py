"""Prints inputs for the coder: counts of samples, amplitudes, seeds."""

import random

dice = random.Random(3)
for seed in range(150):
    print(dice.randint(0, 64), dice.choice([0, 3, 10, 100, 1000, 8000, 32767]), seed)
