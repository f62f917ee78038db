"""An A/A study, computed again from the rows of every mode and harness: standard library, plain loops."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from math import exp, fsum, lgamma, log, log1p, sqrt

from reportgen.publish.verify_intervals import (
    Facts,
    Sample,
    cell_bootstrap,
    median,
    order_interval,
    present,
)

STUDY_LISTS = {
    "modes": ("mode",),
    "kernels": ("mode", "slice"),
    "bar": ("name",),
    "power": ("mode", "planted", "slice"),
    "harnesses": ("harness",),
    "harness_kernels": ("harness", "slice"),
    "shown": ("mode", "device", "slice", "null", "of", "block"),
    "nulls": ("mode", "device", "slice", "null", "of", "block"),
    "planted": ("mode", "device", "slice", "arm", "baseline", "block"),
    "harness_ratios": ("harness", "device", "fixture", "null", "repetition"),
}
TOTALS = (
    "alarm_share", "share_low", "share_high", "nominal_share", "bootstrap_share", "error_median", "error_p95",
    "error_widest", "offset_rms", "width_median", "between_sd", "within_sd",
)  # fmt: skip
Pairs = list[tuple[str, str]]


class Study:
    """The rows of a plan with several modes or other harnesses, ready to be asked."""

    def __init__(
        self, plan: Facts, rows: list[Facts], manifests: dict[str, Facts], failed: dict[str, set[str]]
    ) -> None:
        self.plan, self.experiment = plan, plan["experiment"]
        self.protocol = self.experiment["protocol"]
        self.modes: list[str] = self.protocol.get("modes", ["process"])
        self.harnesses: list[Facts] = self.experiment.get("harness", [])
        self.planned, self.size = self.protocol["repetitions"], self.protocol.get("block_repetitions", 12)
        self.arms = {arm["name"]: arm for arm in self.experiment["arm"]}
        self.nulls: Pairs = [(name, arm["of"]) for name, arm in self.arms.items() if arm.get("of")]
        self.models = {one["device"]["id"]: one["device"]["model"] for one in manifests.values()}
        self.failed = failed
        lost = {
            (name, one.get("mode", "process"), one["repetition"]): one.get("replaced_by")
            for name, manifest in manifests.items()
            for one in manifest["left_out"]
        }
        self.spares = {(name, mode, spare): place for (name, mode, place), spare in lost.items() if spare}
        self.kept = [
            row
            for row in rows
            if row["warmup"] == "false" and (row["attempt"], row["mode"], int(row["repetition"])) not in lost
        ]
        self.halves: defaultdict[tuple[str, str, str, str], dict[int, dict[str, float]]] = defaultdict(dict)
        for row in self.kept:
            if row["group"] == "main" and row["mode"] in self.modes and not row["tag"]:
                key = (row["mode"], row["device"], row["fixture"], row["arm"])
                time_ns = int(row["elapsed_ns"]) / int(row["launches"])
                self.halves[key].setdefault(self.place(row), {})[row["pass"]] = time_ns

    def place(self, row: Facts) -> int:
        """Follow a spare to the planned place that it took."""
        place = int(row["repetition"])
        while (row["attempt"], row["mode"], place) in self.spares:
            place = self.spares[row["attempt"], row["mode"], place]
        return place

    def slices(self) -> Iterator[tuple[str, list[str], list[str], set[str]]]:
        """Name every slice of every device model: its name, fixtures, devices, and arms that failed a check there."""
        for part, model in product(self.plan["slices"], sorted(set(self.models.values()))):
            devices = sorted(device for device, of in self.models.items() if of == model)
            alone = len(set(self.models.values())) == 1
            failed = set().union(*(self.failed.get(device, set()) for device in devices))
            yield part["name"] if alone else f"{part['name']} @ {model}", part["fixtures"], devices, failed

    def times(self, mode: str, device: str, fixture: str, arm: str) -> dict[int, float]:
        """Rule 1: the mean over both mirrored batches by planned place, in ns a launch."""
        halves = self.halves[mode, device, fixture, arm]
        return {place: (both["1"] + both["2"]) / 2 for place, both in halves.items() if len(both) == 2}

    def ratios(self, mode: str, device: str, fixtures: list[str], pair: tuple[str, str]) -> list[Sample]:
        """Give the pair ratios by fixture and planned place, None where either time is missing."""
        table: list[Sample] = []
        for fixture in fixtures:
            arm, baseline = (self.times(mode, device, fixture, name) for name in pair)
            places = range(1, self.planned + 1)
            table.append([arm[k] / baseline[k] if k in arm and k in baseline else None for k in places])
        return table

    def asked(self, pairs: Pairs) -> Iterator[tuple[str, str, list[str], tuple[str, str]]]:
        """List what can be asked: slice, device, shared fixtures and pair of arms."""
        for name, fixtures, devices, failed in self.slices():
            for device, pair in product(devices, pairs):
                timed = self.plan["arms_by_fixture"]
                shared = [fixture for fixture in fixtures if set(pair) <= set(timed.get(fixture, ()))]
                if shared and not failed & set(pair):
                    yield name, device, shared, pair

    def blocks(self, mode: str, pairs: Pairs) -> Iterator[Facts]:
        """Rules 2 to 5 for each block of repetitions that has six process values or more."""
        for name, device, fixtures, pair in self.asked(pairs):
            table = self.ratios(mode, device, fixtures, pair)
            for block in range(self.planned // self.size):
                part = [row[block * self.size : (block + 1) * self.size] for row in table]
                h = process_values(part)
                found = order_interval(h)
                if found is None or found["n"] < 6:
                    continue
                headline = median(median(row) for row in part)
                line = {"mode": mode, "device": device, "slice": name, "pair": pair, "block": block + 1, "h": h}
                line |= {"n": found["n"], "estimate": median(h), "coverage": found["coverage"]}
                yield line | {"low": min(found["low"], headline), "high": max(found["high"], headline)}


def process_values(table: list[Sample]) -> Sample:
    """Rule 2: the median over the fixtures, where at least half of them have a pair."""
    columns = [present(column) for column in zip(*table, strict=True)]
    return [median(column) if column and 2 * len(column) >= len(table) else None for column in columns]


def outside(low: float, high: float) -> bool:
    """Tell whether an interval excludes 1."""
    return low > 1 or high < 1


def null_lines(study: Study, mode: str) -> list[Facts]:
    """Compare every null with the arm it repeats, block by block."""
    lines = []
    for one in study.blocks(mode, study.nulls):
        bootstrap = cell_bootstrap(one["h"])
        line = {key: one[key] for key in ("mode", "device", "slice", "block", "n", "estimate", "low", "high")}
        line |= {"null": one["pair"][0], "of": one["pair"][1], "alarm": outside(one["low"], one["high"])}
        line |= {f"bootstrap_{end}": bootstrap[end] for end in ("low", "high")}
        line["bootstrap_alarm"] = outside(bootstrap["low"], bootstrap["high"])
        lines.append(line | {"h": one["h"], "coverage": one["coverage"]})
    return lines


def most(distances: list[float]) -> float:
    """Give the smallest that at least 95 % do not exceed."""
    return sorted(distances)[-(-19 * len(distances) // 20) - 1]


def root_between(tail: Callable[[float], float]) -> float:
    """Find where a tail that grows with the share reaches 2.5 %."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if tail(middle) < 0.025 else (low, middle)
    return middle


def share_ends(count: int, total: int) -> tuple[float, float]:
    """Clopper and Pearson: the shares at which the tail from ``count`` on, or up to it, is 2.5 %."""

    def part(share: float, numbers: range) -> float:
        ways = lgamma(total + 1)
        logs = (
            ways - lgamma(i + 1) - lgamma(total - i + 1) + i * log(share) + (total - i) * log1p(-share) for i in numbers
        )
        return fsum(exp(value) for value in logs)

    low = root_between(lambda share: part(share, range(count, total + 1))) if count else 0.0
    high = 1 - root_between(lambda share: part(1 - share, range(count + 1))) if count < total else 1.0
    return low, high


def components(rows: list[Sample]) -> tuple[float, float]:
    """Split the spread of log h about 0 into what a block has in common and what varies within it."""
    logs = [[log(value) for value in present(row)] for row in rows]
    means = [fsum(row) / len(row) for row in logs]
    inside = fsum((value - mean) ** 2 for row, mean in zip(logs, means, strict=True) for value in row)
    within = inside / sum(len(row) - 1 for row in logs)
    between = fsum(mean**2 for mean in means) / len(means) - within * fsum(1 / len(row) for row in logs) / len(logs)
    return sqrt(max(0.0, between)), sqrt(within)


def mode_line(mode: str, lines: list[Facts], kernels: list[Facts]) -> Facts:
    """Sum up the null comparisons of a mode."""
    alarms, bootstrap = (sum(one[key] for one in lines) for key in ("alarm", "bootstrap_alarm"))
    own = [one for one in kernels if one["mode"] == mode]
    found = {"mode": mode, "comparisons": len(lines), "alarms": alarms, "bootstrap_alarms": bootstrap}
    found |= {"kernels": len(own), "kernels_beyond": sum(one["beyond"] is True for one in own)}
    if not lines:
        return found | dict.fromkeys(TOTALS)
    errors, total = [abs(one["estimate"] - 1) for one in lines], len(lines)
    between, within = components([one["h"] for one in lines])
    figures = (
        alarms / total, *share_ends(alarms, total), fsum(1 - one["coverage"] for one in lines) / total,
        bootstrap / total, median(errors), most(errors), max(errors), sqrt(fsum(error**2 for error in errors) / total),
        median(one["high"] - one["low"] for one in lines), between, within,
    )  # fmt: skip
    return found | dict(zip(TOTALS, figures, strict=True))


def kernel_lines(study: Study, mode: str, lines: list[Facts]) -> Iterator[Facts]:
    """Give the mean error of every kernel over independent units."""
    for name, fixtures, devices, _ in study.slices():
        own = [one for one in lines if one["slice"] == name]
        if not own:
            continue
        units = defaultdict(list)
        for one in own:
            units[one["device"], one["of"], one["block"]].append(one["estimate"] - 1)
        means = [fsum(errors) / len(errors) for errors in units.values()]
        mean, number = fsum(means) / len(means), len(means)
        spread = fsum((value - mean) ** 2 for value in means)
        error = sqrt(spread / (number - 1) / number) if number > 1 else None
        arms = sorted({one["of"] for one in own})
        times = [
            study.times(mode, *key).values()
            for key in product(devices, fixtures, arms)
            if key[2] in study.plan["arms_by_fixture"].get(key[1], ())
        ]
        line = {"mode": mode, "slice": name, "time_ns": median(value for of in times for value in of)}
        line |= {"comparisons": len(own), "alarms": sum(one["alarm"] for one in own), "units": number}
        line |= {"mean_error": mean, "standard_error": error, "quotient": mean / error if error else None}
        yield line | {"beyond": None if error is None else abs(mean) > 3 * error}


def bar_lines(study: Study, process: Facts, kernels: list[Facts]) -> list[Facts]:
    """Hold mode process against the bar."""
    counted = [Counter(dict(study.nulls).get(arm) for arm in arms) for arms in study.plan["arms_by_fixture"].values()]
    nulls = max((number for one in counted for of, number in one.items() if of), default=0)
    asked, error = process["comparisons"], process["error_p95"]
    beyond = sum(one["beyond"] is not False for one in kernels)
    allowed = 25 * asked // 400
    parts = (
        ("comparisons", 400, asked, asked >= 400),
        ("nulls_a_baseline", 2, nulls, nulls <= 2),
        ("false_alarms", allowed, process["alarms"], asked > 0 and process["alarms"] <= allowed),
        ("error_p95", 0.001, error, error is not None and error <= 0.001),
        ("kernels_beyond", 0, beyond, bool(kernels) and beyond == 0),
    )
    return [dict(zip(("name", "limit", "found", "passes"), part, strict=True)) for part in parts]


def planted_lines(study: Study, mode: str) -> Iterator[Facts]:
    """Compare every arm with planted work with every incumbent, block by block."""
    planted = {name: arm["planted"] for name, arm in study.arms.items() if arm.get("planted") is not None}
    incumbents = [name for name, arm in study.arms.items() if arm["role"] == "incumbent"]
    doubled: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    twice = [(name, of) for name, of in product(planted, incumbents) if planted[name] >= 1]
    for name, device, fixtures, pair in study.asked(twice):
        h = present(process_values(study.ratios(mode, device, fixtures, pair)))
        doubled[name, pair[1]] += h
    partly = [(name, of) for name, of in product(planted, incumbents) if planted[name] < 1]
    for one in study.blocks(mode, partly):
        arm, baseline = one["pair"]
        again = doubled.get((one["slice"], baseline))
        line = {key: one[key] for key in ("mode", "device", "slice", "block", "n", "estimate", "low", "high")}
        line |= {"arm": arm, "baseline": baseline, "planted": planted[arm], "found": one["low"] > 1}
        yield line | {"expected": 1 + planted[arm] * (median(again) - 1) if again else None}


def power_lines(planted: list[Facts]) -> Iterator[Facts]:
    """Sum up by mode and planted share, over all kernels and kernel by kernel."""
    groups = defaultdict(list)
    for one in planted:
        groups[one["mode"], one["planted"], None].append(one)
        groups[one["mode"], one["planted"], one["slice"]].append(one)
    for (mode, share, name), own in groups.items():
        expected = present(one["expected"] for one in own)
        estimate = fsum(one["estimate"] for one in own) / len(own)
        mean = fsum(expected) / len(expected) if len(expected) == len(own) else None
        found = sum(one["found"] for one in own)
        line = {"mode": mode, "planted": share, "slice": name, "comparisons": len(own), "found": found}
        line |= {"found_share": found / len(own), "expected": mean, "estimate": estimate}
        yield line | {"error": None if mean is None else estimate - mean}


def harness_lines(study: Study, times: list[Facts]) -> Facts:
    """Give ratios and readings of the other harnesses; ``times`` are the medians of mode process."""
    own_ns = {(one["device"], one["fixture"], one["arm"]): one["median_ns"] for one in times}
    slices = {(d, f): name for name, fixtures, devices, _ in study.slices() for d, f in product(devices, fixtures)}
    found: Facts = {"harnesses": [], "harness_kernels": [], "harness_ratios": []}
    for harness in (one["name"] for one in study.harnesses):
        read = {
            (row["device"], row["fixture"], row["arm"], int(row["repetition"])): int(row["elapsed_ns"])
            / int(row["launches"])
            for row in study.kept
            if row["group"] == "harness" and row["mode"] == harness
        }
        ratios = []
        for (device, fixture, arm, repetition), time_ns in read.items():
            of = study.arms[arm].get("of")
            if of and (device, fixture, of, repetition) in read:
                line = {"harness": harness, "device": device, "fixture": fixture, "null": arm, "of": of}
                ratio = time_ns / read[device, fixture, of, repetition]
                ratios.append(line | {"repetition": repetition, "ratio": ratio})
        found["harness_ratios"] += ratios
        errors = [abs(one["ratio"] - 1) for one in ratios]
        line = {"harness": harness, "ratios": len(ratios), "error_median": median(errors)}
        found["harnesses"].append(
            line | {"error_p95": most(errors) if errors else None, "error_widest": max(errors, default=None)}
        )
        for name in dict.fromkeys(slices.values()):
            own = {key: time_ns for key, time_ns in read.items() if slices[key[:2]] == name}
            off = [one["ratio"] - 1 for one in ratios if slices[one["device"], one["fixture"]] == name]
            if not own:
                continue
            line = {"harness": harness, "slice": name, "figures": len(own), "ratios": len(off)}
            line |= {"time_ns": median(own.values()), "mean_error": fsum(off) / len(off) if off else None}
            line["reads"] = median(time_ns / own_ns[key[:3]] for key, time_ns in own.items() if key[:3] in own_ns)
            found["harness_kernels"].append(line | {"error_widest": max(map(abs, off), default=None)})
    return found


def shown_lines(study: Study, lines: dict[str, list[Facts]]) -> Iterator[Facts]:
    """Give the series of the placement comparison whose interval lies farthest from 1, and of the same one in every mode."""
    if lines.get("placement"):
        worst = max(
            lines["placement"], key=lambda one: (max(one["low"] - 1, 1 - one["high"], 0), abs(one["estimate"] - 1))
        )
        names = ("device", "slice", "null", "of", "block")
        for mode in study.modes:
            for one in lines[mode]:
                if all(one[name] == worst[name] for name in names):
                    yield {"mode": mode, "h": one["h"]} | {name: one[name] for name in names}


def recompute_study(
    plan: Facts, rows: list[Facts], manifests: dict[str, Facts], failed: dict[str, set[str]], times: list[Facts]
) -> Facts | None:
    """Compute what results.json holds under ``null_study``; None for a plan of one mode without another harness."""
    study = Study(plan, rows, manifests, failed)
    if len(study.modes) == 1 and not study.harnesses:
        return None
    lines = {mode: null_lines(study, mode) for mode in study.modes}
    kernels = [line for mode in study.modes for line in kernel_lines(study, mode, lines[mode])]
    modes = [mode_line(mode, lines[mode], kernels) for mode in study.modes]
    planted = [line for mode in study.modes for line in planted_lines(study, mode)]
    between = {one["mode"]: one["between_sd"] for one in modes}
    layout, placement = between.get("layout"), between.get("placement")
    found: Facts = {"block_repetitions": study.size, "modes": modes, "kernels": kernels, "planted": planted}
    found["bar"] = bar_lines(study, modes[study.modes.index("process")], [k for k in kernels if k["mode"] == "process"])
    found["layout_covers"] = None if layout is None or not placement else 1 - (layout / placement) ** 2
    found |= {"power": list(power_lines(planted)), "shown": list(shown_lines(study, lines))}
    hidden = ("h", "coverage")
    found["nulls"] = [
        {key: value for key, value in one.items() if key not in hidden} for own in lines.values() for one in own
    ]
    return found | harness_lines(study, times)
