"""Timed batches of one process, fixture block by fixture block: an opening, an order, its mirror."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from reportgen.measure.backends.session import BatchTime, Readings
from reportgen.measure.rig import Rig
from reportgen.units import NS_PER_S

OPENING_PASS = 0
MOST_ENQUEUE_SHARE = 0.9

Row = dict[str, Any]


@dataclass
class Clockwork:
    """When the device worked, to say what share of a process's time the harness itself took."""

    times: list[BatchTime] = field(default_factory=list)

    def busy_share(self) -> float | None:
        """Share of the time between first and last batch spent in lead-in or timed replays."""
        if not self.times:
            return None
        first, last = self.times[0], self.times[-1]
        span_ns = last.started_ns + last.elapsed_ns - (first.started_ns - first.lead_in_ns)
        worked_ns = sum(batch.elapsed_ns + batch.lead_in_ns for batch in self.times)
        return worked_ns / span_ns if span_ns > 0 else None

    def descheduled(self) -> int | None:
        """How often the operating system took the core away during the batches."""
        counts = [batch.descheduled for batch in self.times if batch.descheduled is not None]
        return sum(counts) if counts else None

    def host_bound(self) -> int | None:
        """Count batches whose replays the host enqueued hardly faster than they ran."""
        shares = [batch.enqueue_ns / max(batch.elapsed_ns, 1) for batch in self.times if batch.enqueue_ns is not None]
        return sum(share > MOST_ENQUEUE_SHARE for share in shares) if shares else None


def time_batch(rig: Rig, fixture: str, arm: str, replays: int) -> tuple[BatchTime, Row]:
    """Time one batch; its row lacks what the caller knows: pass, position and block."""
    lead_in = rig.job.lead_in_replays
    batch = rig.session.batch(rig.graphs[fixture, arm], lead_in=lead_in, replays=replays)
    row = {
        "mode": rig.job.mode,
        "group": rig.job.group,
        "fixture": fixture,
        "arm": arm,
        "repetition": rig.job.repetition,
        "launches": rig.launches(fixture) * replays,
        "elapsed_ns": batch.elapsed_ns,
        "started_ns": batch.started_ns - rig.job.origin_ns,
        "lead_in": lead_in,
        "tag": "",
    }
    return batch, row


def block_readings(before: Readings, after: Readings) -> Row:
    """Columns of a block's rows that tell the device's state around it."""
    counts_before, counts_after = before.throttle_counts, after.throttle_counts
    throttle = None
    if counts_before is not None and counts_after is not None:
        throttle = "+".join(sorted(name for name, count in counts_after.items() if count > counts_before.get(name, 0)))
    return {
        "clock_mhz_before": before.clock_mhz,
        "clock_mhz_after": after.clock_mhz,
        "temperature_c_before": before.temperature_c,
        "temperature_c_after": after.temperature_c,
        "power_w_before": before.power_w,
        "power_w_after": after.power_w,
        "throttle": throttle,
        "foreign_processes": after.foreign_processes,
        "load_1min": before.load_1min,
    }


def time_blocks(rig: Rig) -> dict[str, Any]:
    """Time every fixture block in the drawn order, send its rows, and return the facts of the whole."""
    whole, blocks = Clockwork(), []
    for number, fixture in enumerate(rig.job.block_order, start=1):
        rig.channel.at("time", fixture)
        blocks.append(_time_block(rig, number, fixture, whole))
    return {
        "device_busy_share": whole.busy_share(),
        "descheduled": whole.descheduled(),
        "host_bound_batches": whole.host_bound(),
        "blocks": blocks,
    }


def _time_block(rig: Rig, number: int, fixture: str, whole: Clockwork) -> dict[str, Any]:
    order, clockwork, rows = rig.job.orders[fixture], Clockwork(), []
    before = rig.session.readings()
    for pass_number, arms in ((OPENING_PASS, order), (1, order), (2, order[::-1])):
        for position, arm in enumerate(arms, start=1):
            rig.channel.beat()
            batch, row = time_batch(rig, fixture, arm, rig.job.replays[fixture])
            clockwork.times.append(batch)
            place = {"pass": pass_number, "position": position, "warmup": pass_number == OPENING_PASS, "block": number}
            rows.append(row | place)
    after = rig.session.readings()
    state = block_readings(before, after)
    rig.channel.send("batches", rows=[row | state for row in rows])
    whole.times += clockwork.times
    return {
        "block": number,
        "fixture": fixture,
        "device_busy_share": clockwork.busy_share(),
        "descheduled": clockwork.descheduled(),
        "before": asdict(before),
        "after": asdict(after),
    }


def now_s() -> float:
    """Seconds on a monotonic clock, for what is not a measurement."""
    return time.monotonic_ns() / NS_PER_S


def clock_ns() -> int:
    """Nanoseconds on the clock that batches are placed on: the machine's raw monotonic one, where it has one."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_MONOTONIC_RAW", time.CLOCK_MONOTONIC))
