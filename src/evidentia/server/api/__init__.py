"""The API's resources: one module each, and its router in this list."""

from typing import Final

from fastapi import APIRouter

from evidentia.server.api import (
    access_log,
    bundles,
    documents,
    kept_ledgers,
    ledgers,
    sessions,
    sources,
    tiles,
    trail,
    verification,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    access_log.router,
    bundles.router,
    documents.router,
    kept_ledgers.router,
    ledgers.router,
    sessions.router,
    sources.router,
    tiles.router,
    trail.router,
    verification.router,
)
