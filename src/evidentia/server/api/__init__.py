"""The API's resources: one module each, and its router in this list."""

from typing import Final

from fastapi import APIRouter

from evidentia.server.api import access_log, keeping, ledgers, members, pack_exports, packs, tools

ROUTERS: Final[tuple[APIRouter, ...]] = (
    access_log.router,
    keeping.router,
    ledgers.router,
    members.router,
    pack_exports.router,
    packs.router,
    tools.router,
)
