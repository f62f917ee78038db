"""What programs read of a site's records: the index with its schema, each record's citation and description, and where addresses moved."""

from __future__ import annotations

from collections.abc import Mapping

from reportgen.publish import citing, croissant, data_index, hosting
from reportgen.publish.frames import CATALOGUE
from reportgen.publish.library import Library, root_of


def described(library: Library) -> Mapping[str, bytes]:
    """Make the files by address."""
    files = {CATALOGUE + data_index.NAME: data_index.index(library), CATALOGUE + data_index.SCHEMA: data_index.schema()}
    files[hosting.REDIRECTS] = hosting.redirects(library)
    for record in library.records:
        folder = citing.folder(record)
        files[folder + citing.CFF] = citing.cff(record, library.settings)
        said = croissant.dataset(record, library.settings, root_of(folder) + record.address)
        files[folder + croissant.NAME] = croissant.file(said)
    return files
