"""The API's resources: one module each, and its router in this list."""

from typing import Final

from fastapi import APIRouter

from evidentia.server.api import (
    access_log,
    assignments,
    attachments,
    bundles,
    document_pages,
    documents,
    jobs,
    keeping,
    kept_ledgers,
    ledgers,
    members,
    pack_exports,
    packs,
    sessions,
    sources,
    statistics,
    tenants,
    tiles,
    tools,
    trail,
    verdicts,
    verification,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    access_log.router,
    assignments.router,
    attachments.router,
    bundles.router,
    document_pages.router,
    documents.router,
    jobs.router,
    keeping.router,
    kept_ledgers.router,
    ledgers.router,
    members.router,
    pack_exports.router,
    packs.router,
    sessions.router,
    sources.router,
    statistics.router,
    tenants.router,
    tiles.router,
    tools.router,
    trail.router,
    verdicts.router,
    verification.router,
)
