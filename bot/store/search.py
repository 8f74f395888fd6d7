"""The full-text search for debates: FTS5 on SQLite, text search on PostgreSQL."""

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, literal_column, select, text

from bot.store.tables import DEBATE_WORDS, WORD_ROWS, Channel, TableUser
from core.evidence.passages import stems
from core.use_cases.find import SearchHit

_WORD = re.compile(r"\w+")
_MOST_WORDS = 12
#: The shortest stem to search for, as a shorter one begins too many words.
_SHORTEST_STEM = 4
#: Words of the excerpt around a hit.
_EXCERPT_WORDS = 14
_TABLE = DEBATE_WORDS.c


class DebateWords(TableUser):
    """The search index of debates."""

    async def put(self, debate_id: str, channel: Channel, words: str) -> None:
        """Set the words of a debate; the last writer wins."""
        # Texts of PostgreSQL cannot contain NUL.
        values = {"debate_id": debate_id, **channel._asdict(), "words": words.replace("\0", " ")}

        def replace_row(connection: Connection) -> None:
            remove_words(connection, debate_id)
            result = connection.execute(insert(DEBATE_WORDS).values(**values))
            if connection.dialect.name == "sqlite":
                row = {"debate_id": debate_id, "row": result.lastrowid}
                connection.execute(insert(WORD_ROWS).values(row))

        await self._database.write(replace_row)

    async def find(
        self, workspace: str, channels: Sequence[str], text: str, limit: int
    ) -> Sequence[SearchHit]:
        """Return the debates of these channels that contain all words, the best match first.

        Finds words by prefix ("post" finds PostgreSQL) and by stem ("licences" finds a licence).
        Operators of the search languages are searched as plain text.
        """
        words = _WORD.findall(text.lower())[:_MOST_WORDS]
        if not words or not channels:
            return []
        place = (_TABLE.workspace == workspace) & _TABLE.channel.in_(channels)

        def look(connection: Connection) -> Sequence[SearchHit]:
            is_sqlite = connection.dialect.name == "sqlite"
            query = _on_sqlite(words) if is_sqlite else _on_postgresql(words)
            rows = connection.execute(query.where(place).limit(limit))
            return [SearchHit(row.debate_id, row.excerpt) for row in rows]

        return await self._database.read(look)


def remove_words(connection: Connection, debate_id: str) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(delete(DEBATE_WORDS).where(_TABLE.debate_id == debate_id))
        return
    is_of_debate = WORD_ROWS.c.debate_id == debate_id
    row = select(WORD_ROWS.c.row).where(is_of_debate).scalar_subquery()
    connection.execute(delete(DEBATE_WORDS).where(literal_column("rowid") == row))
    connection.execute(delete(WORD_ROWS).where(is_of_debate))


def _forms(word: str) -> Sequence[str]:
    """The prefixes to search for: the word, and its English stem if that is long enough.

    The stem of "queries" is "queri"; without its last letter it is a prefix of "query", too.
    """
    short = stems(word)[0].removesuffix("i")
    return (word, short) if len(short) >= _SHORTEST_STEM and short != word else (word,)


def _on_sqlite(words: Sequence[str]) -> Select[Any, Any]:
    """Source: https://sqlite.org/fts5.html (quoted strings, prefixes, snippet, rank)."""
    forms = (" OR ".join(f'"{form}"*' for form in _forms(word)) for word in words)
    query = " AND ".join(f"({group})" for group in forms)
    excerpt = func.snippet(text("debate_words"), 3, "", "", "…", _EXCERPT_WORDS)
    return (
        select(_TABLE.debate_id, excerpt.label("excerpt"))
        .where(text("debate_words MATCH :query").bindparams(query=query))
        .order_by(literal_column("rank"))
    )


def _on_postgresql(words: Sequence[str]) -> Select[Any, Any]:
    """Source: https://www.postgresql.org/docs/current/textsearch-controls.html."""
    forms = (" | ".join(f"{form}:*" for form in _forms(word)) for word in words)
    query = func.to_tsquery("simple", " & ".join(f"({group})" for group in forms))
    vector = func.to_tsvector(literal_column("'simple'"), _TABLE.words)
    options = f"StartSel='', StopSel='', MaxWords={_EXCERPT_WORDS}, MinWords=4"
    excerpt = func.ts_headline("simple", _TABLE.words, query, options)
    return (
        select(_TABLE.debate_id, excerpt.label("excerpt"))
        .where(vector.op("@@")(query))
        .order_by(func.ts_rank(vector, query).desc())
    )
