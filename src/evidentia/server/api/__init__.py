"""The API's resources: one module each, and its router in this list."""

from typing import Final

from fastapi import APIRouter

from evidentia.server.api import access_log, ledgers, tiles, trail

ROUTERS: Final[tuple[APIRouter, ...]] = (
    access_log.router,
    ledgers.router,
    tiles.router,
    trail.router,
)
