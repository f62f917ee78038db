"""Names of hosts and people in a file, replaced in the copy that is archived and published: by key, by column, and in paths of homes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reportgen.archive.importers.content import Content

HOST_KEYS = (
    "host_name",
    "hostname",
    "host",
    "node",
    "machine_name",
    "machinename",
    "computer_name",
    "computername",
    "fqdn",
)
USER_KEYS = ("user", "username", "user_name", "logname", "login", "author_name", "author_email", "email")
ASV_KEYS = ("machine",)
_HOME = re.compile(r"(/home/|/Users/)([^/\\\s\"':;,|<>()]+)(?=[/\\\s\"':;,|<>()]|$)")
_WINDOWS_HOME = re.compile(
    r"([A-Za-z]:(?:\\{1,2}|/)Users(?:\\{1,2}|/))([^/\\\"':;|<>\r\n]{1,64}?)(?=[/\\\"'|<>\r\n]|$)", re.IGNORECASE
)
# jane@box.lan:~/work$ as a prompt shows it, and an address of mail; lodash@4.17.21 is neither.
_PROMPT = re.compile(r"(?<![\w.@/-])([a-z_][\w.-]*)@([A-Za-z0-9][\w.-]*)(?=:[~/])")
_MAIL = re.compile(r"(?<![\w.@/+-])([\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})(?![\w.-]*\w)")
_DOTTED = re.compile(r"(?=.*[A-Za-z])[\w-]+(\.[\w-]+)+")
_SHOWN = re.compile(r"(host|user)(-\d+)?")
_SUFFIX = ".gz"


@dataclass
class _Names:
    """Replacements by what they replace, numbered in the order of the file; ``count`` is how often one was made."""

    known: dict[tuple[str, str], str] = field(default_factory=dict)
    count: int = 0

    def of(self, kind: str, told: str) -> str:
        """Give the replacement of a name; one that is empty or a replacement already stays."""
        if not told or _SHOWN.fullmatch(told):
            return told
        self.count += 1
        number = sum(one == kind for one, _ in self.known) + 1
        return self.known.setdefault((kind, told), f"{kind}-{number}")


def anonymous(content: Content, *, asv: bool = False) -> tuple[Content, int]:
    """Give the file without names of hosts and people, and how many were replaced; the very same bytes where there are none."""
    names = _Names()
    text = content.text
    hosts = (*HOST_KEYS, *(ASV_KEYS if asv else ()))
    if content.looks_json:
        for kind, keys in (("host", hosts), ("user", USER_KEYS)):
            text = _by_key(text, kind, keys, names)
    else:
        text = _by_column(content, text, names)
    for home in (_WINDOWS_HOME, _HOME):
        text = home.sub(lambda found: found[1] + names.of("user", found[2]), text)
    text = _PROMPT.sub(lambda found: f"{names.of('user', found[1])}@{names.of('host', found[2])}", text)
    text = _MAIL.sub(lambda found: names.of("user", found[1]), text)
    text = _everywhere(text, names)
    if not names.count:
        return content, 0
    where = content.where.removesuffix(_SUFFIX) if content.packed else content.where
    for told, shown in ((told, shown) for (_, told), shown in names.known.items()):
        where = re.sub(rf"(?<![^\W_]){re.escape(told)}(?![^\W_])", shown, where)
    return Content(where, text.encode()), names.count


def _everywhere(text: str, names: _Names) -> str:
    """Replace hosts that were found by key or column wherever they stand, if their names have dots: short ones may be words of a benchmark."""
    for (kind, told), shown in names.known.items():
        if kind == "host" and _DOTTED.fullmatch(told):
            text, count = re.subn(rf"(?<![\w.-]){re.escape(told)}(?![\w-]|\.\w)", shown, text)
            names.count += count
    return text


def _by_key(text: str, kind: str, keys: tuple[str, ...], names: _Names) -> str:
    """Replace the text under each of ``keys`` in JSON, whatever else stands there."""
    pattern = re.compile(rf'("(?:{"|".join(keys)})"\s*:\s*")((?:[^"\\]|\\.)*)(?=")', re.IGNORECASE)
    return pattern.sub(lambda found: found[1] + names.of(kind, found[2]), text)


def _by_column(content: Content, text: str, names: _Names) -> str:
    """Replace the cells of columns that name a host or a user, wherever such a cell stands whole."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("==")), "")
    wanted = {**dict.fromkeys(HOST_KEYS, "host"), **dict.fromkeys(USER_KEYS, "user")}
    if not any(key in first.lower().replace(" ", "_") for key in wanted) or first.lstrip().startswith("|"):
        return text
    table = content.table
    for at, name in enumerate(table.header):
        kind = wanted.get(name.strip().lower().replace(" ", "_"))
        for told in dict.fromkeys(line.cells[at] for line in table.lines) if kind else ():
            if told and (shown := names.of(kind or "", told)) != told:
                text = re.sub(
                    rf'(?m)(^|[,;\t"]){re.escape(told)}(?=[,;\t"\r\n]|$)',
                    rf"\g<1>{shown}",
                    text,
                )
    return text
