"""Prints lengths up to a limit and seeds, one pair a line."""

import random
import sys

dice = random.Random(7)
limit = int(sys.argv[1])
for seed in range(1, 151):
    print(dice.randint(0, limit), seed)
