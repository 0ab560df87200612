"""Sources to send: some that matter by name, and any at all."""

import json
from typing import Any

from hypothesis import strategies as st

from evidentia.documents.hashing import FULL_LENGTH, generate_chunk_hash
from evidentia.sources.model import SourceItem, SourceSnippet

LEAVE = "Employees get 25 days of leave. Unused days lapse in March."
ARABIC = "للموظف ٢٥ يوم إجازة 😀 في السنة. ولا تُرحَّل الأيام."
LEAVE_HASH = generate_chunk_hash(LEAVE, FULL_LENGTH)

WEB = SourceItem(
    source_id="policy-1",
    kind="documents",
    title="Leave policy",
    url="https://example.com/leave",
    snippet=LEAVE,
    snippet_from="chunk",
    score=0.93,
    rank=1,
    metadata={"author": "HR", "year": 2026},
    snippets=(
        SourceSnippet(text=LEAVE, chunk_hash=LEAVE_HASH, page=3, start=10, matches=((14, 21),)),
    ),
)
FILE = SourceItem(
    source_id="doc-2",
    kind="documents",
    title="Handbook",
    snippet=LEAVE,
    snippet_from="doc",
    score=0.5,
    rank=2,
    metadata={"file_name": "folder/handbook.pdf"},
)
RIGHT_TO_LEFT = SourceItem(
    source_id="سياسة",
    kind="wiki",
    title="سياسة الإجازات 🏖️",
    url="https://example.com/wiki/إجازة",
    snippet=ARABIC,
    snippet_from="chunk",
    rank=3,
    snippets=(SourceSnippet(text=ARABIC, page=1, matches=((20, 21), (22, 24))),),
)
TEN_SNIPPETS = SourceItem(
    source_id="doc-4",
    kind="documents",
    title="Many",
    snippet="Part 0.",
    score=0.25,
    rank=4,
    snippets=tuple(
        SourceSnippet(text=f"Part {n}. 😀 More.", page=n, score=n / 10) for n in range(10)
    ),
)
BARE = SourceItem(source_id="", kind="")
HUGE = SourceItem(
    source_id="huge",
    kind="custom",
    title="Leave policy",
    metadata={f"key {n}": ["x" * 100, {"deep": {"er": n}}] for n in range(2_000)},
)
HOSTILE = SourceItem(
    source_id="a/b?c#d%\ud800",
    kind="k",
    title=" \t",
    url="\tJavaScript:alert(1)",
    snippet="  ",
    score=float("nan"),
    rank=10**30,
    metadata={
        "__proto__": {"polluted": True},
        "__proto___": 1,
        "a": [{"constructor": {"prototype": {"b": 1}}}],
        **dict(zip(("\ud800", "\udfff"), (10**5_000, -(2**53) - 1), strict=True)),
        "html": True,
        "file_id": "secret",
    },
    snippets=(
        SourceSnippet(text="\ud83d\ude00 x\udc00", page=0, matches=((-5, 10**9), (3, 10**30))),
        SourceSnippet(text="", page=-1, heading_path=("\udc00",), score=float("inf")),
    ),
)
NAMED = {
    "web": WEB,
    "file": FILE,
    "right to left": RIGHT_TO_LEFT,
    "ten snippets": TEN_SNIPPETS,
    "bare": BARE,
    "huge": HUGE,
    "hostile": HOSTILE,
}
ALL_NAMED = list(NAMED.values())

TEXT = st.text(st.characters(), max_size=30) | st.sampled_from(
    [LEAVE, ARABIC, "policy.pdf", "e\u0301 👩‍👩‍👧 \u202e", "A. B? C!\n\n- d", "\x00\r\n\u2028"]
)
_NUMBERS = st.none() | st.floats() | st.floats(-1, 1)
_WHOLE = st.none() | st.integers()
_URLS = (
    st.none()
    | TEXT
    | st.sampled_from(
        [
            "https://example.com/a b",
            "/docs/1",
            "data:text/html,x",
            "s3://bucket/ключ",
            "file:///etc",
        ]
    )
)
_KEYS = TEXT | st.sampled_from(["__proto__", "constructor", "prototype", "filename", "mime_type"])
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)
_SNIPPETS = st.builds(
    SourceSnippet,
    text=TEXT,
    chunk_id=st.none() | TEXT,
    chunk_hash=st.none() | TEXT | st.just(LEAVE_HASH),
    page=_WHOLE,
    heading_path=st.none() | st.lists(TEXT, max_size=2).map(tuple),
    start=_WHOLE,
    end=_WHOLE,
    score=_NUMBERS,
    matches=st.lists(st.tuples(st.integers(-2, 40), st.integers(-2, 40)), max_size=3).map(tuple),
)
SOURCES = st.builds(
    SourceItem,
    source_id=TEXT,
    kind=TEXT,
    title=st.none() | TEXT,
    url=_URLS,
    snippet=st.none() | TEXT,
    snippet_from=st.sampled_from(["doc", "chunk", "unknown"]),
    score=_NUMBERS,
    rank=_WHOLE | st.integers(1, 5),
    metadata=st.dictionaries(_KEYS, _VALUES, max_size=4),
    snippets=st.none() | st.lists(_SNIPPETS, max_size=10).map(tuple),
)
LISTS = st.lists(SOURCES | st.sampled_from([WEB, FILE, TEN_SNIPPETS, BARE, HOSTILE]), max_size=4)


def through_json(value: Any) -> Any:
    """Send a value as strict UTF-8 JSON and read it again."""
    return json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8"))
