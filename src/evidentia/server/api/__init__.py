"""The API's resources: one module each, and its router in this list."""

from typing import Final

from fastapi import APIRouter

from evidentia.server.api import (
    access_log,
    assignments,
    keeping,
    ledgers,
    members,
    pack_exports,
    packs,
    statistics,
    tools,
    verdicts,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    access_log.router,
    assignments.router,
    keeping.router,
    ledgers.router,
    members.router,
    pack_exports.router,
    packs.router,
    statistics.router,
    tools.router,
    verdicts.router,
)
