"""How long `reportgen --help` takes, beside the interpreter alone and beside two other commands of the same environment.

Budget: 0.25 s. Medians of interleaved runs; prints a table, exits with 1 where the budget is missed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

BUDGET_S = 0.25
ROUNDS = 15
COMMANDS = {
    "reportgen --help": ["-m", "reportgen", "--help"],
    "python -c pass": ["-c", "pass"],
    "pip --help": ["-m", "pip", "--help"],
    "pytest --version": ["-m", "pytest", "--version"],
}


def seconds(arguments: list[str]) -> float:
    """Wall time of one call of this interpreter."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> int:
    """Measure all commands in turn and compare."""
    rounds = [{name: seconds(arguments) for name, arguments in COMMANDS.items()} for _ in range(ROUNDS + 1)][1:]
    medians = {name: statistics.median(each[name] for each in rounds) for name in COMMANDS}
    own = medians["reportgen --help"]
    print(f"{'command':<20} {'median s':>9} {'reportgen / it':>15}")
    for name, median in medians.items():
        print(f"{name:<20} {median:9.3f} {own / median:15.2f}")
    print(f"budget {BUDGET_S} s: {'kept' if own <= BUDGET_S else 'MISSED'}")
    return 0 if own <= BUDGET_S else 1


if __name__ == "__main__":
    sys.exit(main())
