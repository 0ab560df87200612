"""The pages of the viewer: one module a page, each with its router.

A page asks the caller's workspace and shows a template of its own folder. Forms are sent to the
page's own address, and lead back to it.
"""

from fastapi import APIRouter

from evidentia.server.pages import bundles, documents, preferences, start, trail, trail_entry

ROUTERS: tuple[APIRouter, ...] = (
    bundles.router,
    documents.router,
    preferences.router,
    start.router,
    trail.router,
    trail_entry.router,
)
"""The router of every page; they have no prefix."""
