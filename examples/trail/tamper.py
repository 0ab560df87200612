"""What an insider with the database file could try: change what an entry of the trail says.

Drops the guard that refuses updates, rewrites the stored body, and puts the guard back.
"""

import sys

import pysqlite3

database, seq, old, new = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
connection = pysqlite3.connect(database)
(guard,) = connection.execute(
    "SELECT sql FROM sqlite_master WHERE name = 'trail_bodies_update'"
).fetchone()
connection.execute("DROP TRIGGER trail_bodies_update")
changed = connection.execute(
    "UPDATE trail_bodies SET body = CAST(REPLACE(CAST(body AS TEXT), ?1, ?2) AS BLOB) "
    "WHERE seq = ?3 AND INSTR(CAST(body AS TEXT), ?1)",
    (old, new, seq),
)
if changed.rowcount != 1:
    sys.exit(f"entry {seq} does not say {old}: nothing is changed")
connection.execute(guard)
connection.commit()
print(f"entry {seq} now reads {new} in the database, and the guard is back in place")
