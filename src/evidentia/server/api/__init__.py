"""The API's resources: one module each, and its router in this list."""

from typing import Final

from fastapi import APIRouter

from evidentia.server.api import (
    access_log,
    documents,
    kept_ledgers,
    ledgers,
    sessions,
    verification,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    access_log.router,
    documents.router,
    kept_ledgers.router,
    ledgers.router,
    sessions.router,
    verification.router,
)
