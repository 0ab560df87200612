"""A small assistant whose answers stream with their evidence.

    pip install 'evidentia[server]'
    python examples/chat/app.py

The model is scripted, so nothing is asked over the network: put your own in place of `scripted`.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import Body, FastAPI, Response
from fastapi.responses import FileResponse, StreamingResponse

import evidentia as ev
from evidentia.integrations.streams import with_evidence

HERE = Path(__file__).parent
POLICIES = HERE.parent / "policies"
COMPONENT = files("evidentia.server") / "static" / "evidentia-citation.js"
PAGES = {"chat.js": "text/javascript", "chat.css": "text/css"}
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "x-content-type-options": "nosniff",
}
ANSWERS = {
    "How much leave do I get?": (
        "All permanent employees shall receive 15 days of paid annual leave per calendar year. "
        "Public holidays that fall within a period of annual leave are not counted as days of "
        "leave.\n\nA medical certificate is required for any absence of more than 5 calendar days. "
        "Unused leave can be carried forward to the next year.\n\n"
        "The office has a swimming pool for members of staff."
    ),
    "كم ساعة أعمل في الأسبوع؟": (
        "يبلغ عدد ساعات العمل الأسبوعية 40 ساعة، بواقع 8 ساعات في اليوم. "
        "يحصل الموظف على استراحة مدتها 45 دقيقة في اليوم، ولا تُحتسب هذه الاستراحة ضمن ساعات "
        "العمل.\n\n"
        "يُسمح بالتأخر لمدة لا تتجاوز 15 دقيقة، على أن يُعوَّض الوقت في اليوم نفسه."
    ),
}


async def scripted(question: str, pause: float) -> AsyncIterator[str]:
    """Answer as a model does, word by word, as server-sent events of the AI SDK's protocol."""

    def event(**fields: Any) -> str:
        return f"data: {json.dumps(fields)}\n\n"

    yield event(type="start", messageId="answer")
    yield event(type="text-start", id="text")
    known = ANSWERS.get(question, f"I have no answer to “{question}”.")
    for word in known.split(" "):
        await asyncio.sleep(pause)
        yield event(type="text-delta", id="text", delta=f"{word} ")
    yield event(type="text-end", id="text")
    yield event(type="finish")
    yield "data: [DONE]\n\n"


def create_app(home: Path, pause: float = 0.04, judges: list[str] | None = None) -> FastAPI:
    """Return the application; its ledgers are kept in the workspace at `home`."""

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[None]:
        with ev.open(home) as workspace:
            workspace.ingest(POLICIES)
            app.state.workspace = workspace
            yield

    app = FastAPI(lifespan=opened)

    @app.get("/")
    def page() -> FileResponse:
        return FileResponse(HERE / "pages" / "index.html", headers=HEADERS)

    @app.get("/pages/{name}")
    def part(name: str) -> Response:
        if name not in PAGES:
            return Response(status_code=404)
        return FileResponse(HERE / "pages" / name, media_type=PAGES[name], headers=HEADERS)

    @app.get("/evidentia-citation.js")
    def component() -> Response:
        return Response(COMPONENT.read_bytes(), media_type="text/javascript", headers=HEADERS)

    @app.post("/chat")
    async def chat(question: Annotated[str, Body(embed=True, max_length=1_000)]) -> Response:
        answer = scripted(question, pause)
        workspace = app.state.workspace
        told = with_evidence(answer, workspace, "ai-sdk", query=question, judges=judges)
        return StreamingResponse(
            told,
            media_type="text/event-stream",
            headers={**HEADERS, "x-vercel-ai-ui-message-stream": "v1"},
        )

    return app


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    uvicorn.run(create_app(folder / "home"), port=8400)
