"""What an insider with the database file could try: make a disputed clause a confirmed one.

Drops the guard that refuses updates, rewrites the stored body, and puts the guard back.
"""

import sys

import pysqlite3

database, seq = sys.argv[1], int(sys.argv[2])
connection = pysqlite3.connect(database)
(guard,) = connection.execute(
    "SELECT sql FROM sqlite_master WHERE name = 'trail_bodies_update'"
).fetchone()
connection.execute("DROP TRIGGER trail_bodies_update")
connection.execute(
    "UPDATE trail_bodies SET body = "
    "CAST(REPLACE(CAST(body AS TEXT), 'DISPUTED', 'CONFIRMED') AS BLOB) WHERE seq = ?",
    (seq,),
)
connection.execute(guard)
connection.commit()
print(f"entry {seq} now reads CONFIRMED in the database, and the guard is back in place")
