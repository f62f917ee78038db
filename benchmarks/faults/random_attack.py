"""Strike runs, resumed runs and ``recover`` with random signals at random moments, and look after each round.

    python -m benchmarks.faults.random_attack [--rounds 200] [--seed 1]

Prints a line a round and what was met in all; exits with 1, naming attack and seed, where something does not hold. A few rounds of it run
in the tests (``tests/measure/test_random_attack.py``); what is done and what must hold is in ``tests/measure/siege.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.measure.siege import Siege, drawn


def main() -> int:
    """Run as many rounds as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    random, began_s, met = Random(wanted.seed), time.monotonic(), Counter[str]()  # noqa: S311 - to be drawn again
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder  # device locks of its own
        siege = Siege(Path(folder) / "siege")
        try:
            for number in range(1, wanted.rounds + 1):
                attack = drawn(random)
                try:
                    found = siege.round(attack)
                except AssertionError as fault:
                    print(f"round {number} of seed {wanted.seed}: {attack}\n{fault}")
                    return 1
                print(f"{number}: {found}; {' '.join(siege.said.splitlines()[-1:])}", flush=True)
                met[found.partition(": ")[2]] += 1
        finally:
            siege.end()
    print(
        f"{wanted.rounds} rounds of seed {wanted.seed} in {time.monotonic() - began_s:.0f} s; {len(siege.archived)} attempts"
    )
    for found, count in met.most_common():
        print(f"{count:5}  {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
