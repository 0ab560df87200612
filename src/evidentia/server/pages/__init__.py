"""The pages of the viewer: one module a page, each with its router.

A page asks the caller's workspace and shows a template of its own folder. Forms are sent to the
page's own address, and lead back to it.
"""

from fastapi import APIRouter

from evidentia.server.pages import (
    access,
    answers,
    bundles,
    compare,
    document,
    documents,
    jobs,
    ledger,
    packs,
    packs_export,
    packs_keeping,
    packs_pack,
    packs_review,
    preferences,
    start,
    trail,
    trail_entry,
    verify,
)

ROUTERS: tuple[APIRouter, ...] = (
    access.router,
    answers.router,
    bundles.router,
    compare.router,
    document.router,
    documents.router,
    jobs.router,
    ledger.router,
    packs.router,
    packs_export.router,
    packs_keeping.router,
    packs_pack.router,
    packs_review.router,
    preferences.router,
    start.router,
    trail.router,
    trail_entry.router,
    verify.router,
)
"""The router of every page; they have no prefix."""
