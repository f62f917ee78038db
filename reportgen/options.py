"""Options and arguments of the commands, each with what ``--help`` says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProjectDir = Annotated[Path, typer.Option("--project", metavar="DIR", help="The lab's folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...")]
Only = Annotated[str, typer.Argument(help="Only this experiment's.")]
Shown = Annotated[str, typer.Argument(help="An experiment, NAME@1a2b3c for another record of it, or an attempt.")]

Backend = Annotated[str, typer.Option(help="native, fake ...; the experiment's own by default.")]
Declare = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write what git knows of the plan's files, for `run --provenance`.")
]
Provenance = Annotated[Path | None, typer.Option(help="Declared provenance, where there is no git.")]
Device = Annotated[str, typer.Option(help="The backend's first by default. Several, as in 0,1: an attempt each.")]
Scheduler = Annotated[str, typer.Option(metavar="ADDRESS", help="Measure on its Dask workers, each on its own device.")]
Quick = Annotated[bool, typer.Option("--quick", help="Two repetitions, never scored.")]
Resume = Annotated[str, typer.Option(metavar="ATTEMPT", help="Complete an interrupted attempt.")]
Sanitize = Annotated[
    str, typer.Option(metavar="TOOLS", help="Look with memcheck,racecheck,synccheck,initcheck: an attempt each.")
]
Profile = Annotated[bool, typer.Option("--profile", help="Count with NVIDIA's profiler; nothing is timed.")]
Where = Annotated[
    list[str] | None, typer.Option(metavar="AXIS=VALUE", help="Only these fixtures, for --sanitize and --profile.")
]
Arms = Annotated[str, typer.Option(metavar="A,B", help="Only these arms, for --profile.")]

Reopen = Annotated[
    list[str] | None,
    typer.Option(metavar="SERVICE", help="Reopen SERVICE though it is not who it was: you vouch for it."),
]
Reason = Annotated[str, typer.Option(help="Why it must not count; shown wherever it appears.")]
Erratum = Annotated[str, typer.Option(help="What its readers should know; shown on its pages.")]

Out = Annotated[Path | None, typer.Option(help="Where the site goes; public/ by default.")]
Address = Annotated[str, typer.Option(metavar="URL", help="Where the site will lie; reportgen.toml's by default.")]
Strict = Annotated[bool, typer.Option("--strict", help="Fail on any warning.")]
Port = Annotated[int, typer.Option(help="On loopback.")]

Format = Annotated[
    str, typer.Option("--format", metavar="FORM", help="markdown, latex, csv or json instead of a table.")
]
FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on", metavar="VERDICTS", help="End with 1 where a verdict is one of these, as slower,invalid."
    ),
]
