"""Parameters as the PostgreSQL driver marks them: `?` becomes `%s`.

Statements are written once, with `?`, for both databases. Quoted text, quoted names and comments
are left alone, except that a `%` is doubled everywhere, because the driver reads it as the start of
a mark. Strings with backslash escapes (`E'…'`) are not understood; none of our statements has one.
"""

import re
from functools import lru_cache

_PIECE = re.compile(
    r"""
    '[^']*' | "[^"]*"           # a doubled quote inside is two pieces side by side
    | --[^\n]* | /\*.*?\*/
    | \$(\w*)\$.*?\$\1\$        # text between $$ and $$, or between $name$ and $name$
    | [?%]
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def percent_marked(statement: str) -> str:
    """The statement with `%s` where it had `?`."""
    return _PIECE.sub(_marked, statement)


def _marked(piece: re.Match[str]) -> str:
    return "%s" if piece[0] == "?" else piece[0].replace("%", "%%")
