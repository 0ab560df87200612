"""How a page is shown: its template in the reader's language, with what every page has.

A page is HTML that works without scripts. Text of users is escaped wherever it stands, and what
cannot be seen in it (a character that turns the direction round, or has no width) is shown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from gettext import NullTranslations
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from evidentia.errors import AccessError
from evidentia.server import labels
from evidentia.server.assets import assets
from evidentia.server.caching import KeptAnswer
from evidentia.server.problems import NOT_SIGNED_IN, ProblemError
from evidentia.server.running import Running
from evidentia.server.translating import COMMAS, DIRECTIONS, LANGUAGES, Language, preferred, words
from evidentia.workspace import Workspace

LANGUAGE_COOKIE: Final = "evidentia_lang"
THEME_COOKIE: Final = "evidentia_theme"
FLASH_COOKIE: Final = "evidentia_said"
Theme = Literal["auto", "light", "dark"]
THEMES: Final[tuple[Theme, ...]] = ("auto", "light", "dark")
_UNSEEN: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f]"
)
_OF_ADDRESSES: Final = "/:?#[]@!$&'()*+,;=%~"
_HTML: Final = "text/html; charset=utf-8"
_MOST_CONTEXT: Final = 60
_MOST_BADGES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Preferences:
    """How a reader wants pages: language, light or dark."""

    language: Language
    theme: Theme


def preferences_of(headers: Mapping[str, str], cookies: Mapping[str, str]) -> Preferences:
    """Return what a browser's cookies say, or else what it asks for."""
    asked = cookies.get(LANGUAGE_COOKIE)
    language: Language | None = next((one for one in LANGUAGES if one == asked), None)
    theme: Theme | None = next((one for one in THEMES if one == cookies.get(THEME_COOKIE)), None)
    return Preferences(language or preferred(headers.get("accept-language", "")), theme or "auto")


def shown(
    request: Request, template: str, *, status: int = 200, again: bool = False, **values: Any
) -> Response:
    """Return a page, or a fragment of one, in the language of who asks.

    `again` says that it is made of the database alone, and no clock: whoever asks for it again
    may have the same while nothing was changed.
    """
    chosen = preferences_of(request.headers, request.cookies)
    said = request.cookies.get(FLASH_COOKIE)
    running: Running = request.app.state.running
    flash = running.unsigned("flash", said, seconds=60) if said else None
    text = (
        _environment(chosen.language)
        .get_template(template)
        .render(_of_every_page(request, chosen) | {"flash": flash} | values)
    )
    vary = {"vary": "cookie, accept-language, accept"}
    if again and said is None:
        return KeptAnswer.of(text.encode(), vary, _HTML).given_to(request)
    response = Response(text, status, headers=vary, media_type=_HTML)
    if said is not None:
        response.delete_cookie(FLASH_COOKIE, httponly=True, samesite="strict")
    return response


def words_of(request: Request) -> Language:
    """Return the language in which a request is answered."""
    return preferences_of(request.headers, request.cookies).language


def leads_to(request: Request, where: str, said: str | None = None) -> Response:
    """Return the answer to a form that was sent: go there, and say what was done, once.

    `said` is a text in English that a catalogue has, without places to fill.
    """
    running: Running = request.app.state.running
    response = Response(status_code=303, headers={"location": local(where)})
    if said is not None:
        response.set_cookie(
            FLASH_COOKIE,
            running.signed("flash", said),
            max_age=60,
            httponly=True,
            samesite="strict",
            secure=running.is_https,
        )
    return response


def may(workspace: Workspace, row: str, pack: str | None = None) -> bool:
    """Whether the reader may do what a row of the guard's table is, to a pack if it is about one.

    Without the pack that it is about, the answer is yes: it is asked again when it is done.
    """
    try:
        workspace.admit(row, pack)
    except AccessError:
        return False
    return True


def wants_page(request: Request) -> bool:
    """Whether a browser asks, which is told of problems by a page."""
    path = request.url.path
    return "text/html" in request.headers.get("accept", "") and not path.startswith("/api/")


def problem_page(request: Request, raised: ProblemError) -> Response:
    """Return the page that tells of a problem, and what to do next; of one in a part, a part."""
    is_part = "hx-request" in request.headers
    if raised.problem is NOT_SIGNED_IN and not is_part:
        response = sign_in_page(request, status=raised.problem.status)
    else:
        response = shown(
            request,
            "_problem.html" if is_part else "problem.html",
            status=raised.problem.status,
            problem=raised.problem,
            detail=raised.detail,
            more=raised.more,
            request_id=request.state.request_id,
        )
    response.headers.update(raised.headers)
    return response


def sign_in_page(request: Request, *, status: int = 200) -> Response:
    """Return the page on which to sign in; it leads back to the page that was asked for."""
    running: Running = request.app.state.running
    path = request.url.path
    is_elsewhere = request.method == "GET" and not path.startswith("/sign-")
    return shown(
        request,
        "sign_in.html",
        status=status,
        by_provider=running.provider is not None,
        by_link=running.sign_in is not None,
        refused=path.startswith("/sign-in/") or "token" in request.query_params,
        back=_here(request) if is_elsewhere else "/",
    )


def local(address: str) -> str:
    """Return an address if it is one of this server, else the start; as a header can hold it.

    What browsers leave out of an address, such as a tab, could make another one of it.
    """
    good = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return quote(address, safe=_OF_ADDRESSES) if good and address.isprintable() else "/"


def _here(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def _of_every_page(request: Request, chosen: Preferences) -> dict[str, Any]:
    asking = getattr(request.state, "asking", None)
    return {
        "language": chosen.language,
        "direction": DIRECTIONS[chosen.language],
        "theme": chosen.theme,
        "here": _here(request),
        "path": request.url.path,
        "signed_in": asking is not None,
        "tenant": asking.caller.tenant if asking else None,
        "user": asking.workspace.user if asking else None,
        "with_query": partial(_with_query, request),
    }


def _with_query(request: Request, **changed: Any) -> str:
    """Return the address of this page with other values in its query; None takes one out."""
    query = dict(request.query_params) | changed
    kept = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{request.url.path}?{urlencode(kept)}" if kept else request.url.path


# Templates


@cache
def _environment(language: Language) -> Environment:
    found = Environment(
        loader=PackageLoader("evidentia.server"),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    texts = words(language)
    found.install_gettext_callables(  # type: ignore[attr-defined]  # of the extension
        texts.gettext,
        texts.ngettext,
        newstyle=True,
        pgettext=texts.pgettext,
        npgettext=texts.npgettext,
    )
    found.globals |= {
        "asset": assets().address,
        "languages": LANGUAGES,
        "marks": labels.MARKS,
        "comma": COMMAS[language],
    }
    found.filters |= {
        "label": lambda value: _label(language, str(value)),
        "badge": lambda score: _translated(texts, labels.badge_of(score)),
        "translated": texts.gettext,
        "visible": partial(visible, title=texts.gettext("A character that cannot be seen")),
        "when": when,
        "day": lambda at: at[:10],
        "percent": lambda share: f"{share * 100:.0f}%",
        "count": lambda number: f"{number:,}",
        "short": lambda text, most=_MOST_CONTEXT: (
            text if len(text) <= most else text[: most - 1] + "…"
        ),
        "query": lambda values: urlencode({k: v for k, v in values.items() if v}),
    }
    parts: Any = found.get_template("_parts.html").module
    found.globals |= {  # of which there are few: a long table asks for the same again and again
        "verdict_badge": lru_cache(_MOST_BADGES)(parts.verdict),
        "confidence_badge": lru_cache(_MOST_BADGES)(parts.confidence),
    }
    return found


@lru_cache(2_000)
def _label(language: Language, value: str) -> str:
    return words(language).gettext(labels.LABELS.get(value, value))


def _translated(texts: NullTranslations, badge: tuple[str, str]) -> tuple[str, str]:
    kind, means = badge
    return kind, texts.gettext(means)


def visible(text: object, title: str = "") -> Markup:
    """Return text as HTML in which characters that cannot be seen are shown by their numbers."""
    found = str(text)
    if _UNSEEN.search(found) is None:
        return escape(found)
    parts: list[Markup] = []
    last = 0
    for one in _UNSEEN.finditer(found):
        parts.append(escape(found[last : one.start()]))
        parts.append(
            Markup('<span class="unseen" title="{}">U+{:04X}</span>').format(title, ord(one[0]))
        )
        last = one.end()
    return Markup("").join([*parts, escape(found[last:])])


def when(at: str) -> Markup:
    """Return a time as HTML: day and minute in UTC, the whole of it behind."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return escape(at)
    return Markup('<time datetime="{}" title="{}" dir="ltr">{}</time>').format(
        at, at, moment.strftime("%Y-%m-%d %H:%M")
    )
