"""One registry of columns: name, type, unit and meaning. Documentation, loaders and dataset metadata read it."""

from __future__ import annotations

import msgspec


class Column(msgspec.Struct, frozen=True):
    """A column of a table; ``type`` is an Arrow type name, ``unit`` empty for a bare count or a name."""

    name: str
    type: str
    unit: str
    meaning: str
    nullable: bool = False


BATCHES = (
    Column(
        "mode",
        "string",
        "",
        "what a repetition redraws: process (a fresh process, the only mode that carries verdicts), layout or placement; "
        "peer in group peer, whose processes are fresh ones too; in group harness the harness's name",
    ),
    Column(
        "group",
        "string",
        "",
        "main, peer for the processes that time the incumbent beside other people's implementations, or harness for those "
        "in which another program times the arms",
    ),
    Column("fixture", "string", "", "the input setting, as axis=value pairs"),
    Column("arm", "string", "", "the version timed"),
    Column("repetition", "int32", "", "from 1; 0 is the calibrating process, whose rows are warm-up"),
    Column("pass", "int32", "", "1 for an order, 2 for its mirror, 0 for the opening batches; in calibration the step"),
    Column("position", "int32", "", "slot within the pass, from 1"),
    Column(
        "launches",
        "int64",
        "",
        "executions of the operation in the timed window: launches a graph times scored replays; in group harness the "
        "executions that the harness's figure rests on",
    ),
    Column(
        "elapsed_ns",
        "int64",
        "ns",
        "length of the timed window; in group harness the harness's time per execution times launches",
    ),
    Column("started_ns", "int64", "ns", "start of the timed window on the monotonic clock, since the attempt began"),
    Column("warmup", "bool", "", "an opening or calibrating batch: archived, never scored"),
    Column("lead_in", "int32", "", "untimed replays of the same graph enqueued immediately before the timed window"),
    Column("block", "int32", "", "fixture block within the process, from 1; readings are taken around a block"),
    Column("clock_mhz_before", "float64", "MHz", "clock of the device before the block", nullable=True),
    Column("clock_mhz_after", "float64", "MHz", "clock of the device after the block", nullable=True),
    Column("temperature_c_before", "float64", "degC", "temperature before the block", nullable=True),
    Column("temperature_c_after", "float64", "degC", "temperature after the block", nullable=True),
    Column("power_w_before", "float64", "W", "power draw before the block", nullable=True),
    Column("power_w_after", "float64", "W", "power draw after the block", nullable=True),
    Column("throttle", "string", "", "throttle reasons that rose during the block, joined by +", nullable=True),
    Column(
        "foreign_processes",
        "int32",
        "",
        "processes of others on the device during the block (on a CPU: see load)",
        nullable=True,
    ),
    Column("load_1min", "float64", "", "load average of the machine before the block", nullable=True),
    Column("tag", "string", "", "rule of the plan that excludes this batch; empty for none"),
)

CHECKS = (
    Column("fixture", "string", "", "the input setting"),
    Column("arm", "string", "", "the version checked"),
    Column("repetition", "int32", "", "the process that checked"),
    Column("when", "string", "", "before or after the timed batches"),
    Column(
        "output",
        "string",
        "",
        "buffer compared: of all sets that pass, or of the one set named; with its case where the inputs are not those that are timed",
    ),
    Column("against", "string", "", "reference, the arm that must be equalled, or inputs for their checksum"),
    Column("kind", "string", "", "value (under the stated tolerance), bitwise, or inputs (unchanged)"),
    Column("elements", "int64", "", "elements compared"),
    Column("mismatches", "int64", "", "elements that differ beyond the tolerance, or in any bit"),
    Column(
        "max_abs", "float64", "", "largest absolute difference; empty where the values are not finite", nullable=True
    ),
    Column("rel_l2", "float64", "", "L2 norm of the difference over that of the reference", nullable=True),
    Column("passed", "bool", "", "no mismatch"),
)

ORIGIN = (
    Column("device", "string", "", "the device that measured, by its id"),
    Column("attempt", "string", "", "the attempt that the row comes from"),
)

IMPORTED_BENCHMARKS = (
    Column("benchmark", "int32", "", "number of the benchmark in the attempt, from 1"),
    Column("source", "int32", "", "number of the source in the manifest, from 1"),
    Column("arm", "string", "", "the version timed, where the source or whoever imported it names arms", nullable=True),
    Column("name", "string", "", "name of the benchmark, letter for letter"),
    Column("params", "string", "", "its parameters, as JSON"),
    Column("status", "string", "", "ok, skipped or error: the worst of its rows"),
    Column("reason", "string", "", "why it is not ok"),
    Column("measure", "string", "", "time or rate; a rate is never turned into a time"),
    Column("better", "string", "", "lower or higher"),
    Column("unit", "string", "", "unit of the source; a rate stays in it"),
    Column("repetitions", "int64", "", "how many values the source says there were", nullable=True),
    Column("iterations", "float64", "", "iterations that a value was averaged over, as the source says", nullable=True),
    Column("reported", "string", "", "figures that the source states itself, as JSON; those in *_ns are in ns"),
    Column("median_word", "string", "", "what the reported median_ns is, where that is not simply a median"),
    Column("notes", "string", "", "what is odd about it, as a JSON list"),
)

IMPORTED_SAMPLES = (
    Column("benchmark", "int32", "", "number of the benchmark in the attempt, from 1"),
    Column("order", "int32", "", "place among the values of its source, from 1, in the order of the file"),
    Column("repetition", "int64", "", "the source's own number of the repetition", nullable=True),
    Column("value", "float64", "ns, or the source's unit", "a time in ns, or a rate in its unit", nullable=True),
    Column("told", "string", "", "the value as the source has it"),
    Column("unit", "string", "", "unit of told"),
    Column("iterations", "float64", "", "iterations that the value was averaged over", nullable=True),
    Column("status", "string", "", "ok, skipped or error; only ok ones count"),
    Column("reason", "string", "", "why it is not ok"),
    Column("origin", "string", "", "line or key in the source's file"),
    Column("beside", "string", "", "further numbers that the source has of this value, as JSON"),
)

# Why a warp that could not issue an instruction had to wait, in the words of NVIDIA's profiler; "selected" is the one that issued.
STALLS = {
    "barrier": "for the other warps of its block",
    "branch_resolving": "for the target of a branch",
    "dispatch_stall": "for the dispatcher",
    "drain": "at its end, for what it wrote to memory",
    "gmma": "for a matrix instruction of the warp group",
    "imc_miss": "for a constant",
    "lg_throttle": "for room in the queue to local and global memory",
    "long_scoreboard": "for data from global, local or texture memory",
    "math_pipe_throttle": "for an arithmetic unit",
    "membar": "at a memory barrier",
    "mio_throttle": "for room in the queue to shared memory and special functions",
    "misc": "for other reasons",
    "no_instruction": "for the instruction itself",
    "not_selected": "ready, while another was chosen",
    "selected": "not at all: it issued",
    "short_scoreboard": "for data from shared memory or a special function",
    "sleeping": "asleep",
    "tex_throttle": "for room in the texture queue",
    "wait": "for the fixed delay of the instruction before",
}
COUNTERS = (
    Column("fixture", "string", "", "the input setting"),
    Column("arm", "string", "", "the version counted"),
    Column(
        "launch",
        "int32",
        "",
        "counted execution of the operation after the lead-in; 0 opens, right after the profiler was switched on, and enters no mean",
    ),
    Column("call", "int32", "", "kernel of that execution, from 1"),
    Column("kernel", "string", "", "its name"),
    Column("dram_read_bytes", "int64", "B", "bytes read from the device's memory", nullable=True),
    Column("dram_write_bytes", "int64", "B", "bytes written to the device's memory", nullable=True),
    Column("l2_bytes", "int64", "B", "bytes asked of the second-level cache", nullable=True),
    Column("l2_hit_pct", "float64", "%", "share of the sectors looked up there that it held", nullable=True),
    Column(
        "occupancy_pct", "float64", "%", "warps in flight on a busy multiprocessor, of the most it takes", nullable=True
    ),
    Column("occupancy_limit_pct", "float64", "%", "the same as registers and shared memory allow", nullable=True),
    Column("issue_pct", "float64", "%", "cycles in which a scheduler issued an instruction", nullable=True),
    Column("instructions", "int64", "", "instructions executed, by warp", nullable=True),
    Column("registers", "int32", "", "registers a thread", nullable=True),
    Column("shared_bytes", "int64", "B", "shared memory a block", nullable=True),
    Column("kernel_ns", "int64", "ns", "length under the profiler: context, no measurement", nullable=True),
    *(
        Column(
            f"stall_{name}",
            "float64",
            "",
            f"warps that wait {why}, on average at each issued instruction",
            nullable=True,
        )
        for name, why in STALLS.items()
    ),
)

TABLES = {"batches": BATCHES, "checks": CHECKS}  # those of every attempt
IMPORTED_TABLES = {"imported_benchmarks": IMPORTED_BENCHMARKS, "imported_samples": IMPORTED_SAMPLES}
EVERY_TABLE = TABLES | IMPORTED_TABLES | {"counters": COUNTERS}
