"""Fuzz one reader in this process and write its tally as JSON: by atheris, which follows the coverage, or by hypothesis.

    python -m benchmarks.fuzz.one_reader atheris|hypothesis READER INPUTS SEED FOLDER

``FOLDER`` holds the samples; the tally and every input whose outcome must not be are written there.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import NoReturn

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as fixed_seed
from hypothesis import strategies as st

SHARE_REPAIRED = 0.75
RSS_MIB = 3_000


def main() -> None:
    """Fuzz as the command line says."""
    method, name, inputs, seed, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5])
    warnings.simplefilter("ignore")  # a zip with two members of one name is what is asked for
    try:
        by_coverage(name, inputs, seed, folder) if method == "atheris" else by_hypothesis(name, inputs, seed, folder)
    except Exception:  # noqa: BLE001 - a fault of the fuzzer itself: said in the log, and no thread may keep the process
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(3)


def by_coverage(name: str, inputs: int, seed: int, folder: Path) -> None:
    """Let atheris keep what reaches new branches of the readers, and mutate that further, by structure or by byte."""
    import atheris  # noqa: PLC0415 - only this road needs it

    with atheris.instrument_imports(
        include=["reportgen.archive", "reportgen.publish", "reportgen.project", "reportgen.model"]
    ):
        from benchmarks.fuzz import judging, mutations, readers, samples  # noqa: PLC0415 - instrumented while imported
    reader = readers.make_readers(samples.Samples.under(folder / "samples"), folder / f"work-{os.getpid()}")[name]
    tally, began = judging.Tally(), time.perf_counter()
    corpus = folder / f"corpus-{os.getpid()}"
    corpus.mkdir()
    for number, valid in enumerate(reader.seeds):
        (corpus / str(number)).write_bytes(valid)

    def one(data: bytes) -> None:
        if data:  # the first input of all is empty
            tally.add(reader, data)
        if tally.inputs >= inputs:
            finish(tally, "atheris", name, began, folder)

    def mutate(data: bytes, most: int, number: int) -> bytes:
        draw = random.Random(number)  # noqa: S311 - repeatable
        base = data if reader.first_check(data) else draw.choice(reader.seeds)
        if draw.random() < SHARE_REPAIRED:
            made = mutations.safely(reader.mutate, base, draw)
        else:
            made = draw.choice((mutations.flip(data, draw), bytes(atheris.Mutate(data, most))))
        return made if 0 < len(made) <= most else base

    limits = [
        f"-rss_limit_mb={RSS_MIB}",
        "-timeout=60",
        f"-artifact_prefix={folder}/",
        "-max_len=400000",
        "-len_control=0",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], f"-seed={seed}", *limits, str(corpus)], one, custom_mutator=mutate)
    judging.limit_memory()
    atheris.Fuzz()


def by_hypothesis(name: str, inputs: int, seed: int, folder: Path) -> None:
    """Let hypothesis make the choices that the mutations draw."""
    from benchmarks.fuzz import judging, mutations, readers, samples  # noqa: PLC0415 - as the other road, which instruments

    reader = readers.make_readers(samples.Samples.under(folder / "samples"), folder / f"work-{os.getpid()}")[name]
    tally, began = judging.Tally(), time.perf_counter()
    judging.limit_memory()

    @fixed_seed(seed)
    @settings(
        max_examples=inputs,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False), st.booleans() | st.just(value=True))
    def every(draw: random.Random, repaired: bool) -> None:  # noqa: FBT001 - hypothesis gives it by name
        change = reader.mutate if repaired else mutations.flip
        tally.add(reader, mutations.safely(change, draw.choice(reader.seeds), draw))

    every()
    finish(tally, "hypothesis", name, began, folder)


def finish(tally: object, method: str, name: str, began: float, folder: Path) -> NoReturn:
    """Write the tally and end at once: libFuzzer has no other way to stop at a number of inputs that were not empty."""
    from benchmarks.fuzz.judging import Tally  # noqa: PLC0415 - as above

    if not isinstance(tally, Tally):
        raise TypeError(tally)
    for trace, data in tally.surprises.items():
        (folder / f"surprise-{hashlib.sha256(trace.encode()).hexdigest()[:12]}").write_bytes(data)
    kept = {
        "reader": name,
        "method": method,
        "inputs": tally.inputs,
        "past_first_check": tally.past_first_check,
        "outcomes": dict(tally.outcomes),
        "surprises": list(tally.surprises),
        "slowest_s": round(tally.slowest_s, 3),
        "seconds": round(time.perf_counter() - began, 1),
    }
    (folder / f"{method}-{name}.json").write_text(json.dumps(kept))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
