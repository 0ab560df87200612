"""What every revision gives a table that has a tenant column, where PostgreSQL keeps them apart.

A transaction sees and writes rows of the tenant that it named. The tables' owner may also name all:
migrations of data do, and the functions that find out of which tenants something is to be done.
"""

from typing import Final

from alembic import op

OF_TENANT: Final = "tenant = current_setting('evidentia.tenant', true)"
ACROSS: Final = "current_setting('evidentia.across', true) = 'on'"


def keep_tenants_apart(table: str) -> None:
    """Have a table's rows seen and written by the transactions of their tenant alone."""
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY of_tenant ON {table} USING ({OF_TENANT}) WITH CHECK ({OF_TENANT})")
    owner = op.get_bind().exec_driver_sql(
        "SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class WHERE oid = %s::regclass",
        (table,),
    )
    op.execute(
        f"CREATE POLICY across_tenants ON {table} TO {owner.scalar_one()} "
        f"USING ({ACROSS}) WITH CHECK ({ACROSS})"
    )
