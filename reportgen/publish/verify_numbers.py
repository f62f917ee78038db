"""Everything that results.json says of a record, computed again from times: standard library, plain loops."""

from collections import defaultdict
from itertools import product

from reportgen.publish.verify_gates import all_gates
from reportgen.publish.verify_intervals import (
    Facts,
    cell_bootstrap,
    decide_interval,
    headline_bootstrap,
    judge,
    lag_one,
    median,
    order_interval,
    present,
    sign_p,
)


def selects(where: Facts, values: Facts) -> bool:
    """Tell whether a fixture's axis values satisfy a filter."""
    return all(values.get(axis) in allowed for axis, allowed in where.items())


class Slice:
    """One slice of the plan on the devices of one model."""

    def __init__(self, plan: Facts, part: Facts, model: str, record: Facts) -> None:
        self.plan, self.arms = plan, {arm["name"]: arm for arm in plan["experiment"]["arm"]}
        self.devices = [device for _, device in sorted(record.items()) if device["model"] == model]
        alone = len({device["model"] for device in record.values()}) == 1
        self.name = part["name"] if alone else f"{part['name']} @ {model}"
        self.fixtures = [each for each in plan["fixtures"] if each["name"] in part["fixtures"]]
        self.failed = set().union(*(device["failed"] for device in self.devices))
        self.cell_floor: float | None = None

    def incumbent_of(self, arm: str) -> str:
        """Name the incumbent that an arm is held against."""
        incumbents = [name for name, each in self.arms.items() if each["role"] == "incumbent"]
        return str(self.arms[arm].get("incumbent") or incumbents[0])

    def tables(self, arm: str, baseline: str, where: Facts) -> list[Facts]:
        """Pair two arms on every device: ratios and times in ns, fixtures x repetitions, None where either is missing."""
        main, peer = self.plan["arms_by_fixture"], self.plan["peers_by_fixture"]
        beside = [timed for timed in (main, peer) if any({arm, baseline} <= set(names) for names in timed.values())]
        timed = beside[0] if beside else main
        shared = [
            f for f in self.fixtures if {arm, baseline} <= set(timed.get(f["name"], ())) and selects(where, f["values"])
        ]
        group = "main" if timed is main else "peer"
        return [self._table(device, group, [f["name"] for f in shared], (arm, baseline)) for device in self.devices]

    def _table(self, device: Facts, group: str, fixtures: list[str], arms: tuple[str, str]) -> Facts:
        table: Facts = {"device": device["id"], "fixtures": fixtures, "pairs": [], "arm": [], "baseline": []}
        table["repetitions"] = sorted(device["repetitions"][group])
        for fixture in fixtures:
            both = [[time_of(device, (group, fixture, arm, k)) for arm in arms] for k in table["repetitions"]]
            whole = [times if None not in times else [None, None] for times in both]
            table["arm"].append([a for a, _ in whole])
            table["baseline"].append([b for _, b in whole])
            table["pairs"].append([None if a is None or b is None else a / b for a, b in whole])
        return table


def time_of(device: Facts, batch: tuple[str, str, str, int]) -> float | None:
    """Rule 1: the mean over both mirrored batches, in ns a launch; None if either is missing."""
    halves = device["halves"].get(batch, {})
    return (halves[1][0] + halves[2][0]) / 2 if len(halves) == 2 else None


def cells_of(tables: list[Facts]) -> list[Facts]:
    """Give the cells that have a pair."""
    cells = []
    for table in tables:
        columns = (table[key] for key in ("fixtures", "pairs", "arm", "baseline"))
        for fixture, pairs, arm_ns, baseline_ns in zip(*columns, strict=True):
            if present(pairs):
                cell = {"device": table["device"], "fixture": fixture, "ratio": median(pairs), "pair_ratio": pairs}
                cell |= {"interval": order_interval(pairs), "bootstrap": cell_bootstrap(pairs)}
                cells.append(cell | {"candidate_ns": median(arm_ns), "baseline_ns": median(baseline_ns)})
    return cells


class Compared:
    """A comparison in a slice, up to the noise floor."""

    def __init__(self, view: Slice, asked: Facts) -> None:
        self.view, self.arm, self.baseline = view, asked["candidate"], asked["baseline"]
        self.where: Facts = asked.get("where", {})
        self.tables = view.tables(self.arm, self.baseline, self.where)
        self.fixtures: list[str] = self.tables[0]["fixtures"]
        self.failed = bool({self.arm, self.baseline} & view.failed)
        self.cells = cells_of(self.tables)
        whole = self.fixtures and len(self.cells) == len(self.fixtures) * len(self.tables)
        self.found = decide_interval(self.tables) if whole and not self.failed else None
        self.is_null = view.arms[self.arm].get("of") == self.baseline
        self.valid_null = self.is_null and self.found is not None and self.found["order"] is not None

    def result(self, f: float | None, nulls: int) -> Facts:
        """Judge against the noise floor of the slice."""
        view, found, s = self.view, self.found, self.view.plan["experiment"]["smallest_effect"]
        rules = (
            (self.baseline in view.failed, "baseline_failed_check"),
            (self.arm in view.failed, "arm_failed_check"),
            (found is None, "cell_without_data"),
            (f is None, "no_noise_floor"),
        )
        invalid = next((("invalid", reason) for holds, reason in rules if holds), None)
        verdict, reason = invalid or judge(found or {}, self.cells, s, f or 0.0)
        roles = {"role": view.arms[self.arm]["role"], "baseline_role": view.arms[self.baseline]["role"]}
        result = {"arm": self.arm, "baseline": self.baseline, "slice": view.name, "fixtures": self.fixtures, **roles}
        result |= {
            "verdict": verdict,
            "reason": reason,
            "where": self.where,
            "cells": [] if self.failed else self.cells,
        }
        return result | {"valid_nulls": nulls, "outrun_bound": 1 / (nulls + 1)} | self._figures(f, s)

    def _figures(self, f: float | None, s: float) -> Facts:
        found = self.found
        if found is None:
            return {}
        columns = (self.tables, found["h"], found["intervals"])
        figures = {key: found[key] for key in ("headline", "device_p")} | {
            "devices_agree": None if found["device_p"] is None else not found["disagree"],
            "bootstrap": headline_bootstrap(self.view.plan["digest"], self.tables),
            "n": len([value for of in found["values"] for value in of]),
            "coverage": (found["order"] or {"coverage": 0.0})["coverage"],
            "devices": [
                {"device": t["device"], "repetitions": t["repetitions"], "h": h, "interval": ends, "lag1": lag_one(h)}
                for t, h, ends in zip(*columns, strict=True)
            ],
        }
        if found["order"] is None:
            return figures
        ends = {"low": found["order"]["low"], "high": found["order"]["high"]}
        figures |= {key: found[key] for key in ("estimate", "low", "high")}
        figures |= {"rank": found["order"]["rank"], "order_interval": ends, "p_against_1": sign_p(found, 0.0)}
        figures |= {"stretched": (found["low"], found["high"]) != found["own"]}
        if f is None:
            return figures
        shown = max(s, f) + (found["high"] - found["low"]) if found["enough"] else None
        return figures | {
            "margin": max(s, f),
            "p_against_margin": sign_p(found, max(s, f)),
            "smallest_effect_shown": shown,
        }


def judged(views: list[Slice]) -> tuple[list[Facts], list[Facts]]:
    """Rules 7 and 8: all comparisons and the noise of every slice."""
    plan = views[0].plan
    listed = {(asked["candidate"], asked["baseline"]) for asked in plan["comparisons"]}
    nulls = [{"candidate": name, "baseline": arm["of"]} for name, arm in views[0].arms.items() if arm.get("of")]
    asked = plan["comparisons"] + [null for null in nulls if (null["candidate"], null["baseline"]) not in listed]
    columns = [[Compared(view, each) for view in views] for each in asked]
    columns = [[one for one in column if one.fixtures] or column for column in columns]
    results, noise = [], []
    for view in views:
        here = [one for column in columns for one in column if one.view is view]
        valid = [one.found for one in here if one.valid_null and one.found]
        f = max((abs(found[end] - 1) for found in valid for end in ("low", "high")), default=None)
        distances = sorted(abs(cell["ratio"] - 1) for one in here if one.valid_null for cell in one.cells)
        view.cell_floor = distances[-(-19 * len(distances) // 20) - 1] if distances else None
        for one in here:
            beside = sum(null.valid_null and null.baseline == one.baseline for null in here)
            results.append(one.result(f, beside))
            if one.is_null:
                ends = {end: one.found[end] if one.valid_null and one.found else None for end in ("low", "high")}
                line = {"slice": view.name, "null": one.arm, "of": one.baseline, "valid": one.valid_null}
                noise.append(line | ends | {"floor": f, "cell_floor": view.cell_floor})
    return results, noise


def add_holm(results: list[Facts]) -> None:
    """Rule 6: Holm over all candidates against one baseline in one slice."""
    families = defaultdict(list)
    for result in results:
        if result["role"] == "candidate":
            families[result["slice"], result["baseline"]].append(result)
    for family in families.values():
        p = [1.0 if each["verdict"] == "invalid" else each.get("p_against_margin", 1.0) for each in family]
        least = 0.0
        for rank, at in enumerate(sorted(range(len(p)), key=lambda at: p[at]), start=1):
            least = max(least, min(1.0, p[at] * (len(p) - rank + 1)))
            n = family[at].get("n")
            resolvable = None if n is None else 2.0 ** (1 - n) <= 0.05 / len(p)
            family[at] |= {"holm_p": least, "holm_rank": rank, "family_size": len(p), "resolvable": resolvable}


def all_promotions(views: list[Slice], results: list[Facts], gates: list[Facts]) -> list[Facts]:
    """Say what to do with every candidate in every slice."""
    required = {gate["name"] for gate in views[0].plan["experiment"].get("gate", []) if gate.get("required", True)}
    promotions = []

    def asked(view: Slice, arm: str, baseline: str | None) -> list[Facts]:
        both = [
            each for each in results if (each["slice"], each["arm"], each["baseline"]) == (view.name, arm, baseline)
        ]
        return [each for each in both if not each["where"]] or both

    def faster(view: Slice, arm: str, baseline: str | None) -> bool:
        return {each["verdict"] for each in asked(view, arm, baseline)} == {"faster"}

    for view, (name, arm) in product(views, views[0].arms.items()):
        incumbent, control = view.incumbent_of(name), arm.get("control")
        if arm["role"] != "candidate" or not (asked(view, name, incumbent) or asked(view, name, control)):
            continue
        own = [gate for gate in gates if gate["name"] in required and (gate["slice"], gate["arm"]) == (view.name, name)]
        clear = all(gate["outcome"] == "passes" for gate in own)
        wins, attributable = faster(view, name, incumbent), faster(view, name, control)
        rewrite = control not in (None, incumbent) and faster(view, control, incumbent)
        outcome = "adopt as rewrite" if rewrite else "keep incumbent"
        if wins and not attributable:
            outcome = "not attributable"
        if wins and attributable and clear:
            outcome = "adopt"
        line = {"arm": name, "slice": view.name, "outcome": outcome}
        promotions.append(line | {"incumbent": incumbent, "control": control})
    return promotions


def position_effects(views: list[Slice]) -> list[Facts]:
    """Give the median relative time by pass and slot: time over the mean of its arm's two batches, less 1."""
    effects = []
    for view in views:
        slots, names = defaultdict(list), {fixture["name"] for fixture in view.fixtures}
        for device in view.devices:
            for batch, halves in device["halves"].items():
                mean = time_of(device, batch)
                if batch[0] == "main" and batch[1] in names and mean is not None:
                    for half, (ns, position) in halves.items():
                        slots[half, position].append(ns / mean - 1)
        for (half, position), relative in sorted(slots.items()):
            line = {"slice": view.name, "order_pass": half, "position": position, "batches": len(relative)}
            effects.append(line | {"effect": median(relative)})
    return effects


def arm_times(plan: Facts, record: Facts) -> list[Facts]:
    """Give the median time of every arm on every device and fixture, as its main or else its peer processes timed it."""
    times = []
    fixtures, arms = [f["name"] for f in plan["fixtures"]], [arm["name"] for arm in plan["experiment"]["arm"]]
    for (name, device), fixture, arm in product(sorted(record.items()), fixtures, arms):
        for group in ("main", "peer"):
            batches = [(group, fixture, arm, k) for k in sorted(device["repetitions"][group])]
            known = present(time_of(device, batch) for batch in batches)
            if known:
                line = {"device": name, "fixture": fixture, "arm": arm, "median_ns": median(known)}
                times.append(line | {"repetitions": len(known)})
                break
    return times


def recompute(
    plan: Facts, record: Facts, with_left_out: Facts | None = None, stages: list[Facts] | None = None
) -> Facts:
    """Compute what results.json holds.

    ``record`` maps a device's id to its ``model``, ``failed`` arms, ``repetitions`` by group, and ``halves``: by (group,
    fixture, arm, repetition) the time in ns a launch and the slot of pass 1 and 2. ``stages`` is what ceiling gates took
    from other records: evidence that this record carries.
    """
    models = sorted({device["model"] for device in record.values()})
    views = [Slice(plan, part, model, record) for part, model in product(plan["slices"], models)]
    comparisons, noise = judged(views)
    add_holm(comparisons)
    gates = all_gates(views, stages or [])
    found = {
        "experiment": plan["name"],
        "plan": plan["digest"],
        "comparisons": comparisons,
        "noise": noise,
        "gates": gates,
    }
    found |= {"smallest_effect": plan["experiment"]["smallest_effect"], "times": arm_times(plan, record)}
    found |= {"promotions": all_promotions(views, comparisons, gates), "positions": position_effects(views)}
    found |= {"stages": stages or []}
    return found | {"with_left_out": recompute(plan, with_left_out)["comparisons"] if with_left_out else []}
