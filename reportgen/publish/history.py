"""What a record's page says of the records before and after it: a notice where it is superseded, and what changed since the one before."""

from __future__ import annotations

from reportgen.analysis.differing import Side, difference
from reportgen.publish import difference_tables
from reportgen.publish.context import History, Link
from reportgen.publish.library import Library, root_of
from reportgen.publish.view import RecordView


def history(record: RecordView, library: Library) -> History:
    """Find the record that the experiment's name means now, if it is another, and the one that this record followed.

    Records of an experiment are known by when their plans were frozen, the latest first.
    """
    line = library.line(record.experiment)
    place = [one.name for one in line].index(record.name)
    earlier = line[place + 1] if place + 1 < len(line) else None
    current = next((one for one in line if one.current), record)
    superseded = None
    if current.name != record.name:
        superseded = Link(current.name, root_of(record.address) + current.address)
    if earlier is None:
        return History(superseded, None, "", ())
    found = difference(_side(earlier), _side(record))
    link = Link(earlier.name, root_of(record.address) + earlier.address)
    return History(superseded, link, difference_tables.summary(found), difference_tables.tables(found))


def _side(record: RecordView) -> Side:
    return Side(record.name, record.plan, record.result, [one.manifest for one in record.attempts])
