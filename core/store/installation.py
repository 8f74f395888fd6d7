"""What belongs to the installation as a whole: its secret, and the sign that it takes writes."""

import secrets

from sqlalchemy import Connection, select, update

from core.store.columns import insert_new
from core.store.database import Database, Transactions
from core.store.tables import INSTALLATION

_SECRET = "secret"  # noqa: S105 - the row's name
_BYTES = 32
_PROBE = "probe"


async def installation_secret(database: Transactions) -> bytes:
    """The secret of this installation, the same for all processes on its database."""

    def make_or_read(connection: Connection) -> bytes:
        row = {"name": _SECRET, "content": secrets.token_hex(_BYTES)}
        insert_new(connection, INSTALLATION, row)
        query = select(INSTALLATION.c.content).where(INSTALLATION.c.name == _SECRET)
        return bytes.fromhex(str(connection.execute(query).scalar_one()))

    return await database.write(make_or_read)


async def probe(database: Database) -> None:
    """Make sure that the database takes writes, and still is the file that was opened."""

    def write_a_change(connection: Connection) -> None:
        values = {"name": _PROBE, "content": secrets.token_hex(4)}
        if not insert_new(connection, INSTALLATION, values):
            row = update(INSTALLATION).where(INSTALLATION.c.name == _PROBE)
            connection.execute(row.values(content=values["content"]))

    database.check_file()
    await database.write(write_a_change)
