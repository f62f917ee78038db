"""Every gate of a plan, asked again from times: standard library, plain loops."""

from itertools import chain, groupby, pairwise
from math import comb
from typing import Any

from reportgen.publish.verify_intervals import Facts, decide_interval, median, order_interval, rank_of


def ask_gate(view: Any, gate: Facts, arm: str, stages: list[Facts]) -> tuple[Facts, bool]:
    """Ask a gate of one arm in one slice, in savings; tell whether the slice holds a fixture that it asks about."""
    vs, in_time, repeats = gate["vs"], gate.get("quantity", "ratio") == "saved_ns", gate.get("repeats", 1)
    baseline = {"incumbent": view.incumbent_of(arm), "control": view.arms[arm].get("control")}.get(vs, vs)
    tables = view.tables(arm, baseline, gate.get("where", {})) if baseline else []
    result = {"name": gate["name"], "kind": gate["kind"], "slice": view.name, "arm": arm, "baseline": baseline or vs}
    result |= {"threshold": gate["threshold"], "quantity": gate.get("quantity", "ratio"), "outcome": "invalid"}
    result |= {"exploratory": bool(gate.get("after"))}
    asked = bool(tables and tables[0]["fixtures"])
    if not asked or {arm, baseline} & view.failed:
        return result, asked
    if in_time:
        for table in tables:
            both = [zip(*rows, strict=True) for rows in zip(table["arm"], table["baseline"], strict=True)]
            table["pairs"] = [[None if a is None else (b - a) * repeats for a, b in row] for row in both]
    if gate["kind"] == "band":
        return result | ask_band(view, gate, tables), asked
    cells = gate_cells(tables, in_time=in_time)
    if min(cell["n"] for cell in cells) < 6:
        return result, asked
    if gate["kind"] == "ceiling":
        return result | ask_ceiling(view, gate, cells, stages), asked
    return result | weigh_savings(view, gate, cells, tables), asked


def weigh_savings(view: Any, gate: Facts, cells: list[Facts], tables: list[Facts]) -> Facts:
    """Hold the savings of all cells, or of the decision interval, against what the gate asks."""
    in_time, repeats = gate.get("quantity", "ratio") == "saved_ns", gate.get("repeats", 1)
    if gate["kind"] == "headline":
        found = decide_interval(tables)
        if not found["enough"]:
            return {}
        worst = found["low"] if in_time else 1 - found["high"]
        cells = [{"estimate": found["estimate"] if in_time else 1 - found["estimate"], "end": worst}]
    sign = -1 if gate["kind"] == "no_regression" else 1
    if sign < 0 and view.cell_floor is None:
        return {}
    for cell in cells:
        cell["needs"] = gate["threshold"]
        if sign < 0:
            floor = view.cell_floor * (repeats * cell["baseline_ns"] if in_time else 1)
            cell |= {"tolerance": max(gate["threshold"], floor), "needs": -max(gate["threshold"], floor)}
    fails = any(cell["estimate"] < cell["needs"] for cell in cells)
    thin = any(cell["end"] < cell["needs"] for cell in cells)
    decides = min(cells, key=lambda cell: cell["estimate" if fails and thin else "end"] - cell["needs"])
    result = {key: decides.get(key) for key in ("fixture", "device", "tolerance")}
    result |= {key: sign * decides[key] for key in ("estimate", "end")}
    if gate["kind"] == "every_fixture":
        shown = ("device", "fixture", "estimate", "high")
        result["cells"] = [{key: cell[key] for key in shown} | {"low": cell["end"]} for cell in cells]
    return result | {"outcome": "passes" if not thin else "fails" if fails else "thin margin"}


def ask_ceiling(view: Any, gate: Facts, costs: list[Facts], stages: list[Facts]) -> Facts:
    """Take the greatest cost of an arm from the least that the ceiling of another stage saves."""
    stage = gate["stage"]
    named = {"gate": gate["name"], "plan": stage["plan"], "arm": stage["arm"], "baseline": stage["vs"]}
    named |= {"model": view.devices[0]["model"]}
    tops = []
    for cell in stages:
        if all(cell[key] == value for key, value in named.items()):
            both = zip(cell["arm_ns"], cell["baseline_ns"], strict=True)
            saved = [None if None in pair else (pair[1] - pair[0]) * stage.get("repeats", 1) for pair in both]
            ends = order_interval(saved) or {"n": 0, "low": 0.0}
            tops.append(cell | {"n": ends["n"], "end": ends["low"], "estimate": median(saved)})
    if not tops or min(top["n"] for top in tops) < 6:
        return {}
    at = {by: tuple(min(cells, key=lambda cell: cell[by]) for cells in (tops, costs)) for by in ("end", "estimate")}
    clears = {by: top[by] + cost[by] >= gate["threshold"] for by, (top, cost) in at.items()}
    outcome = "passes" if clears["end"] else "thin margin" if clears["estimate"] else "fails"
    top, cost = at["estimate" if outcome == "fails" else "end"]
    found = {"plan": stage["plan"], "fixture": top["fixture"], "device": top["device"]}
    found |= {"saved": top["estimate"], "low": top["end"], "cost": -cost["estimate"], "cost_high": -cost["end"]}
    result = {"outcome": outcome, "ceiling": found, "fixture": cost["fixture"], "device": cost["device"]}
    return result | {by: top[by] + cost[by] for by in ("estimate", "end")}


def ask_band(view: Any, gate: Facts, tables: list[Facts]) -> Facts:
    """Judge every point of an axis at ranks that hold for all of them together, and find who agrees with a neighbour."""
    values = {each["name"]: each["values"][gate["axis"]] for each in view.fixtures}
    declared = view.plan["experiment"]["axes"][gate["axis"]]
    names = [each["name"] for each in view.fixtures if each["name"] in tables[0]["fixtures"]]
    if all(type(values[name]) in (int, float) for name in names):
        names.sort(key=lambda name: float(values[name]))
    else:
        names.sort(key=lambda name: declared.index(values[name]) if values[name] in declared else len(declared))
    if view.cell_floor is None or len(names) < 2 or len({values[name] for name in names}) < len(names):
        return {}
    columns = []
    for name in names:
        pairs = [(table["device"], table["pairs"][table["fixtures"].index(name)]) for table in tables]
        columns.append([band_cell(sample, 40 * len(names), gate["threshold"], view.cell_floor) for _, sample in pairs])
        if None in columns[-1]:
            return {}
        columns[-1] = [
            cell | {"value": values[name], "fixture": name, "device": device}
            for (device, _), cell in zip(pairs, columns[-1], strict=True)
        ]
    said = [{cell["verdict"] for cell in column} for column in columns]
    agreed = [next(iter(verdicts)) if len(verdicts) == 1 else "undecided" for verdicts in said]
    bands = []
    for verdict, run in groupby(range(len(names)), key=lambda at: agreed[at]):
        at = [values[names[place]] for place in run]
        if verdict != "undecided" and len(at) > 1:
            bands.append({"verdict": verdict, "first": at[0], "last": at[-1], "points": len(at)})
    return weigh_band(columns, max(gate["threshold"], view.cell_floor)) | {"bands": bands, "points": [*chain(*columns)]}


def band_cell(sample: list[float | None], sides: int, s: float, floor: float) -> Any:
    """Judge one point on one device; None where no rank is that sure."""
    ordered = sorted(value for value in sample if value is not None)
    rank = rank_of(len(ordered), sides)
    if rank is None:
        return None
    low, high, margin = ordered[rank - 1], ordered[-rank], max(s, floor)
    inside = 1 - s <= low and high <= 1 + s and floor <= s
    verdict = "pays" if high < 1 - margin else "costs" if low > 1 + margin else "neither" if inside else "undecided"
    covered = 1 - 2 * sum(comb(len(ordered), i) for i in range(rank)) / 2 ** len(ordered)
    ends = {"low": low, "high": high, "rank": rank, "n": len(ordered), "coverage": covered}
    return {"ratio": median(ordered), "interval": ends, "verdict": verdict}


def weigh_band(columns: list[list[Facts]], margin: float) -> Facts:
    """Let the weaker cell of the best two neighbours decide: by the ends, or by the medians where those fail."""

    def decides(of: Any) -> Facts:
        both = [one + other for one, other in pairwise(columns)]
        return dict(min((max(cells, key=of) for cells in both), key=of))

    by_end, by_ratio = decides(lambda cell: cell["interval"]["high"]), decides(lambda cell: cell["ratio"])
    thin = by_ratio["ratio"] < 1 - margin
    outcome = "passes" if by_end["interval"]["high"] < 1 - margin else "thin margin" if thin else "fails"
    cell = by_ratio if outcome == "fails" else by_end
    result = {"outcome": outcome, "tolerance": margin, "fixture": cell["fixture"], "device": cell["device"]}
    return result | {"estimate": 1 - cell["ratio"], "end": 1 - cell["interval"]["high"]}


def gate_cells(tables: list[Facts], *, in_time: bool) -> list[Facts]:
    """Give the saving of every cell: its median, the lower (``end``) and the upper end of its interval."""
    cells = []
    for table in tables:
        for fixture, pairs, baseline_ns in zip(table["fixtures"], table["pairs"], table["baseline"], strict=True):
            ends = order_interval(pairs) or {"n": 0, "low": 0.0, "high": 0.0}
            found = (median(pairs), ends["low"], ends["high"])
            if not in_time:
                found = (1 - (median(pairs) or 0.0), 1 - ends["high"], 1 - ends["low"])
            cell = {"device": table["device"], "fixture": fixture, "n": ends["n"], "baseline_ns": median(baseline_ns)}
            cells.append(cell | {"estimate": found[0], "end": found[1], "high": found[2]})
    return cells


def all_gates(views: list[Any], stages: list[Facts]) -> list[Facts]:
    """Ask every gate of its arms in every slice that holds a fixture of its own, or in all if none does."""
    gates = views[0].plan["experiment"].get("gate", [])
    answers = [ask_gate(view, gate, arm, stages) for view in views for gate in gates for arm in gate["arms"]]
    somewhere = {(result["name"], result["arm"]) for result, asked in answers if asked}
    return [result for result, asked in answers if asked or (result["name"], result["arm"]) not in somewhere]
