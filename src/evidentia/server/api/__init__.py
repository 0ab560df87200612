"""The API's resources: one module each, and its router in this list."""

from typing import Final

from fastapi import APIRouter

from evidentia.server.api import access_log, bundles, ledgers, sources, tiles, trail

ROUTERS: Final[tuple[APIRouter, ...]] = (
    access_log.router,
    bundles.router,
    ledgers.router,
    sources.router,
    tiles.router,
    trail.router,
)
