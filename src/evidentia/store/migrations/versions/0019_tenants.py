"""Row-level security: a connection sees the rows of the tenant it named, and no others.

PostgreSQL alone has it. What must look at all tenants at once is a function for each question, and
answers with names alone: of tenants, of jobs, of traces. What removes by an erasure asks whose
transaction it is in, as it runs in its owner's name.
"""

from alembic import op

from evidentia.store.migrations.row_security import keep_tenants_apart
from evidentia.store.tables import metadata

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

WITH_TENANT = """
    SELECT CASE n.nspname WHEN 'llm' THEN 'llm.' ELSE '' END || c.relname FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN (current_schema(), 'llm')
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped
    WHERE c.relkind = 'r' ORDER BY 1"""

FOUND = {
    "trail_tenants()": (
        "TABLE (tenant text)",
        "SELECT h.tenant FROM trail_heads h ORDER BY h.tenant",
    ),
    "trail_open_jobs()": (
        "TABLE (tenant text, id text, kind text, state text, runner text)",
        (
            "SELECT j.tenant, j.id, j.kind, j.state, j.runner FROM jobs j "
            "WHERE j.state IN ('queued', 'running') ORDER BY j.created_at, j.id"
        ),
    ),
    "trail_jobs_ended(before text)": (
        "TABLE (tenant text, id text)",
        "SELECT j.tenant, j.id FROM jobs j WHERE j.ended_at < before",
    ),
    "trail_traces_due(now text, most bigint)": (
        "TABLE (tenant text, trace_id text, actor text, scopes text)",
        (
            "SELECT t.tenant, t.trace_id, t.actor, t.scopes FROM waiting_traces t "
            "WHERE t.closes_at <= now ORDER BY t.closes_at, t.tenant, t.trace_id LIMIT most"
        ),
    ),
    "trail_traces_left()": (
        "TABLE (tenant text)",
        (
            "SELECT DISTINCT t.tenant FROM waiting_traces t WHERE t.job_id IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.tenant = t.tenant AND j.id = t.job_id "
            "AND j.state IN ('queued', 'running')) ORDER BY t.tenant"
        ),
    ),
    "trail_traces_recorded(before text)": (
        "TABLE (tenant text)",
        (
            "SELECT DISTINCT t.tenant FROM waiting_traces t WHERE t.recorded >= t.spans "
            "AND t.closes_at IS NULL AND t.job_id IS NULL AND t.recorded_at < before "
            "ORDER BY t.tenant"
        ),
    ),
    "trail_requests_answered(before text)": (
        "TABLE (tenant text)",
        "SELECT DISTINCT i.tenant FROM idempotency i WHERE i.created_at < before ORDER BY i.tenant",
    ),
}
"""The questions about all tenants: what each gives, and how it is found."""

ACROSS = """
    DECLARE was text := COALESCE(current_setting('evidentia.across', true), ''); {more}
    BEGIN
    PERFORM set_config('evidentia.across', 'on', true);
    {sql};
    PERFORM set_config('evidentia.across', was, true);
    END"""
"""How the tables' owner looks at all tenants, for one question; a function of a role that is no
superuser can't have the setting as its own."""

# From each tenant to the next one through the index, not through all rows.
STRAYS = """
    FOR of_table, found_in IN SELECT CASE n.nspname WHEN 'llm' THEN 'llm.' ELSE '' END || c.relname,
    format('%I.%I', n.nspname, c.relname) FROM pg_policy y JOIN pg_class c ON c.oid = y.polrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN (current_schema(), 'llm')
    WHERE y.polname = 'of_tenant' ORDER BY 1
    LOOP RETURN QUERY EXECUTE format('WITH RECURSIVE names(one) AS (SELECT min(r.tenant) FROM %1$s r
    UNION ALL SELECT (SELECT min(r.tenant) FROM %1$s r WHERE r.tenant > names.one) FROM names
    WHERE names.one IS NOT NULL) SELECT $1, names.one FROM names WHERE names.one IS NOT NULL
    AND names.one NOT IN (SELECT h.tenant FROM trail_heads h)', found_in) USING of_table;
    END LOOP"""

REQUIRE = """
    BEGIN
    IF of_tenant IS DISTINCT FROM current_setting('evidentia.tenant', true) THEN
    RAISE EXCEPTION 'rows of tenant % are none of this transaction''s', of_tenant
    USING ERRCODE = 'insufficient_privilege';
    END IF;
    END"""

ERASING = {
    "trail_erase_body(of_tenant text, of_seq bigint)": (
        "bigint",
        (
            "WITH gone AS (DELETE FROM trail_bodies WHERE tenant = of_tenant AND seq = of_seq "
            "RETURNING 1) SELECT count(*) FROM gone"
        ),
    ),
    "trail_erase_pack(of_tenant text, of_seq bigint)": (
        "bigint",
        (
            "WITH gone AS (DELETE FROM evidence_packs WHERE tenant = of_tenant "
            "AND trail_seq = of_seq RETURNING 1) SELECT count(*) FROM gone"
        ),
    ),
    "trail_erase_run(of_tenant text, of_seq bigint)": (
        "bigint",
        (
            "WITH gone AS (DELETE FROM llm.run_evidence WHERE tenant = of_tenant "
            "AND trail_seq = of_seq RETURNING 1) SELECT count(*) FROM gone"
        ),
    ),
    "trail_erase_chunks(of_tenant text, of_document text, of_sha256 text, of_reader bigint)": (
        "void",
        (
            "DELETE FROM document_chunks WHERE tenant = of_tenant AND document_id = of_document "
            "AND sha256 = of_sha256 AND reader = of_reader"
        ),
    ),
    "trail_erase_title(of_tenant text, of_document text, of_version bigint)": (
        "void",
        (
            "UPDATE documents SET title = NULL WHERE tenant = of_tenant AND id = of_document "
            "AND version = of_version"
        ),
    ),
}
"""What removes by one statement."""

ERASING_MORE = {
    "trail_erase_bundle(of_tenant text, of_seq bigint)": """
    DECLARE gone text;
    BEGIN
    PERFORM trail_require_tenant(of_tenant);
    SELECT bundle_id INTO gone FROM llm.evidence_bundle
    WHERE tenant = of_tenant AND trail_seq = of_seq;
    IF gone IS NULL THEN RETURN 0; END IF;
    DELETE FROM llm.run_evidence WHERE tenant = of_tenant AND bundle_id = gone;
    DELETE FROM llm.evidence_item WHERE tenant = of_tenant AND bundle_id = gone;
    DELETE FROM llm.evidence_bundle WHERE tenant = of_tenant AND bundle_id = gone;
    RETURN 1;
    END""",
    "trail_erase_ledger(of_tenant text, of_seq bigint)": """
    DECLARE gone record;
    BEGIN
    PERFORM trail_require_tenant(of_tenant);
    SELECT id, session_id INTO gone FROM ledgers WHERE tenant = of_tenant AND trail_seq = of_seq;
    IF gone.id IS NULL THEN RETURN 0; END IF;
    DELETE FROM evidence_ledger WHERE tenant = of_tenant AND ledger_id = gone.id;
    DELETE FROM ledgers WHERE tenant = of_tenant AND id = gone.id;
    IF NOT EXISTS (SELECT 1 FROM ledgers WHERE tenant = of_tenant
    AND session_id = gone.session_id) THEN
    DELETE FROM claims WHERE tenant = of_tenant AND session_id = gone.session_id;
    DELETE FROM sessions WHERE tenant = of_tenant AND id = gone.session_id;
    END IF;
    RETURN 1;
    END""",
}


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        return
    op.execute(
        "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"
    )
    for (table,) in op.get_bind().exec_driver_sql(WITH_TENANT).all():
        if table in metadata.tables:
            keep_tenants_apart(table)
    for name, (gives, sql) in FOUND.items():
        _function(name, gives, "plpgsql", ACROSS.format(more="", sql=f"RETURN QUERY {sql}"))
    more = "of_table text; found_in text;"
    gives = "TABLE (in_table text, tenant text)"
    _function("trail_strays()", gives, "plpgsql", ACROSS.format(more=more, sql=STRAYS))
    op.execute(
        "CREATE FUNCTION trail_require_tenant(of_tenant text) RETURNS void LANGUAGE plpgsql STABLE "
        f"SET search_path FROM CURRENT AS $${REQUIRE}$$"
    )
    for name, (gives, sql) in ERASING.items():
        _function(name, gives, "sql", f"SELECT trail_require_tenant(of_tenant); {sql}")
    for name, body in ERASING_MORE.items():
        _function(name, "bigint", "plpgsql", body)


def downgrade() -> None:
    raise NotImplementedError("evidence is never taken down: keep the database, and start another")


def _function(name: str, gives: str, language: str, body: str) -> None:
    """Make a function that runs as its owner, and that only who is granted it may call."""
    op.execute(
        f"CREATE OR REPLACE FUNCTION {name} RETURNS {gives} LANGUAGE {language} SECURITY DEFINER "
        f"SET search_path FROM CURRENT AS $${body}$$"
    )
    op.execute(f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC")
