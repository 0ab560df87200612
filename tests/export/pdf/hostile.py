"""Packs and ledgers with hostile text in every field, and what must hold of the PDFs of them.

Equal numbers give equal evidence, so that a number is all that it takes to see a problem again.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from ctypes import c_double
from dataclasses import replace
from typing import Any, Final

import pypdfium2  # type: ignore[import-untyped]
from pypdfium2 import raw as pdfium

from evidentia.canonical import sha256_hex
from evidentia.export.pdf.provenance import EVIDENCE as EVIDENCE_FILE
from evidentia.export.pdf.provenance import RENDERING as RENDERING_FILE
from evidentia.export.pdf.reading import embedded
from evidentia.kinds import verify_pdf
from evidentia.ledger.model import (
    Claim,
    ClaimType,
    EvidenceLedger,
    Importance,
    LedgerEntry,
    LedgerSummary,
    RiskFlag,
    RiskType,
    Severity,
    SourceDocument,
    Verdict,
)
from evidentia.ledger.session import (
    CheckedDocument,
    LedgerSession,
    LeftOutText,
    UnreadFile,
)
from evidentia.packs.model import DecisionSummary
from evidentia.packs.verification import written
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import TrustedKey
from packs.making import call, decision, exported, failed_call, full_pack, memo, pack, source
from proofs import KEY, make_proof

TRUSTED: Final = [TrustedKey(KEY.verifier.public_key, KEY.verifier.name)]
LANGUAGES: Final = ("ar", "en", "both")
TYPEFACES: Final = ("plex", "amiri")
MARKUP: Final = "#emph[x]"
"""What would not be seen as it is, if it were read as markup."""
PHONE: Final = "1010-445-221"
DATE: Final = "2026-11-01"
REVERSED: Final = ("221-445-1010", "01-11-2026")
"""How right-to-left text turns them around, if it is let."""
_PIECES: Final = (
    MARKUP,
    '#pdf.attach("x.txt", bytes("x"))',
    '#eval("1+1") #read("/etc/passwd") #image("x.png")',
    '#import "@preview/cetz:0.3.0": *',
    "= Heading\n== Another\n- item\n+ item\n/ term: text",
    "$ x^2 + sum_(i=0)^n $ `raw` ```code``` *bold* _emph_ <label> @ref \\ \\u{41} ~ --- ... //",
    "/* comment */ // comment\n#{ while true {} }",
    "<script>alert(1)</script><b>x</b>&lt;&amp;&#x202e;<!-- -->",
    "(text) <</JS(app.alert\\(1\\))/S/JavaScript>> endobj endstream %%EOF",
    "<</Length 9/Filter/LZWDecode>>\nstream\nx\nendstream\nendobj",
    "\x00\x01\x07\x08\x0b\x0c\x1b[31m\x7f\x85\x9f",
    "a\r\nb\rc\td\u2028e\u2029f\u000bg",
    "😀👩‍👩‍👧‍👦🏳️‍🌈🇸🇦",
    "漢字かなカナ한국어",
    "\u202e1010-445-221\u202c \u2066x \u2067y \u202a\u202b",
    "\u200b\u200c\u200d\u200e\u200f\ufeff\u00ad\u034f\u061c\u2060",
    "e\u0301\u0301\u0301\u0301\u0327" * 9,
    "\u0628" + "\u064b\u0651\u0670" * 20,
    "\ue000\U000f0000\U0010ffff\ufffe\uffff\U0001d11e\U00012000\u0b95\u0e01\u05d0\u07ca",
    "١٢٣\u066b٤٦ ٪ ۱۲۳ 12.5% \u20c1 ﷼ ﷺ ﷽",
    "السجل التجاري 1010-445-221 بتاريخ 2026-11-01 لدى a@b.example",
    "https://example.org/%D8%A7?q=<x>&y=[1]#frag javascript:alert(1) file:///etc/passwd",
    "{{7*7}} ${7*7} %s %n \\\\server\\share ../../../../etc/passwd",
    "\u0644\u0627\u0644\u0623\u0644\u0625\u0644\u0622 ـــــــ",
    "'; DROP TABLE packs; --",
    "\u00a0\u2003\u3000 \u1680",
    "-",
    "ﬁ ﬀ ½ ² ³ № ™ Å Ω ĳ",
)
_HUGE_EVERY: Final = 50
"""A word of 100 KB takes a hundred pages, and a validator a minute."""
_HUGE: Final = 100_000
_ARABIC: Final = "نص"
_ENGLISH: Final = "Text"


def evidence(number: int) -> bytes:
    """Return the evidence of a number: packs and ledgers in turn."""
    chosen = random.Random(number)
    texts = _Texts(chosen, huge=number % _HUGE_EVERY in {4, 5})
    return _pack(chosen, texts) if number % 2 == 0 else _ledger(chosen, texts)


def how(number: int) -> dict[str, Any]:
    """Return in which language and typeface a number's PDF is made."""
    return {"lang": LANGUAGES[number % 3], "typeface": TYPEFACES[number // 2 % 2]}


class _Texts:
    """Gives hostile texts, one of them huge if it is to be."""

    def __init__(self, chosen: random.Random, *, huge: bool) -> None:
        self._chosen = chosen
        self._huge = huge

    def __call__(self, limit: int = 0, *, blank: bool = False, first: str = "") -> str:
        chosen = self._chosen
        if blank and chosen.random() < 0.2:
            return chosen.choice(["", " ", "\n", "\u200b"])
        pieces = [first] * bool(first) + chosen.choices(_PIECES, k=chosen.randint(1, 4))
        text = chosen.choice([" ", "\n", ""]).join(pieces)
        if self._huge and not limit and chosen.random() < 0.3:
            self._huge = False
            letter = chosen.choice(["x", "ع", "/a", "漢", "😀", "#"])
            text += letter * (_HUGE // len(letter.encode()))
        return text[:limit] if limit else text


def _pack(chosen: random.Random, texts: _Texts) -> bytes:
    sources = tuple(
        source(
            source=texts(900, first="s"),
            uri=texts(900, first="u"),
            excerpt=texts(1_900, first="e"),
            confidence=chosen.random(),
        )
        for _ in range(chosen.randint(1, 4))
    )
    calls = tuple(
        chosen.choice([call, failed_call])(
            tool_name=texts(900, first="t"),
            intended_action=texts(900, first="delete"),
            actual_action=texts(900, first="read"),
            side_effects=(texts(900, first="x"),),
            inputs={texts(90): texts(90, blank=True)},
        )
        for _ in range(chosen.randint(0, 4))
    )
    decided = decision(
        entity_id=f"{PHONE} {texts(900)}",
        decision=texts(blank=True),
        decision_ar=texts(blank=True),
    )
    fields = {
        "entity_id": f"{PHONE} {texts(900)}",
        "agent_name": texts(900, first="agent"),
        "model": texts(900, first="model"),
        "decision": DecisionSummary.of(decided),
        "sources": sources,
        "tool_calls": calls,
        "tools_offered": (),
        "memo": memo(
            title_ar=f"{_ARABIC} {PHONE} {texts(300)}",
            title_en=f"{MARKUP} {_ENGLISH} {texts(300)}",
            body_ar=f"{_ARABIC} {DATE} {texts()}",
            body_en=f"{_ENGLISH} {texts()}",
            executive_summary_ar=f"{_ARABIC} {PHONE} {texts()}",
            executive_summary_en=f"{_ENGLISH} {texts()}",
        ),
        "review_note": texts(blank=True),
        "reviewer_id": texts(900, first="r"),
    }
    if chosen.random() < 0.5:
        return exported(full_pack(**fields))
    return exported(pack(**{k: v for k, v in fields.items() if not k.startswith("review")}))


def _ledger(chosen: random.Random, texts: _Texts) -> bytes:
    claims: list[Claim] = []
    entries: list[LedgerEntry] = []
    answer = texts(first="answer")
    left_out = (LeftOutText(text=answer, start=0, end=len(answer), reason=texts(90)),)
    for at in range(chosen.randint(0, 5)):
        text = f"{chosen.choice([_ARABIC, _ENGLISH])} {PHONE} {texts()}"
        start = len(answer)
        answer += text
        kind, weight = chosen.choice(list(ClaimType)), chosen.choice(list(Importance))
        claims.append(
            Claim(
                id=f"clm_{at}",
                text=text,
                type=kind,
                importance=weight,
                start=start,
                end=len(answer),
                source_text=text,
            )
        )
        verdict = chosen.choice([Verdict.NOT_FOUND, Verdict.NOT_JUDGED])
        entries.append(
            LedgerEntry(
                id=f"ent_{at}",
                claim_id=f"clm_{at}",
                claim_text=text,
                claim_type=kind,
                claim_importance=weight,
                verdict=verdict,
                confidence_score=0.0,
                evidence_snippet=texts(blank=True),
                source_document=SourceDocument(
                    id=texts(90), filename=texts(200, first="f"), heading_path=(texts(90),)
                ),
                notes=texts(blank=True),
            )
        )
    ledger = EvidenceLedger(
        id="led_1",
        session_id="ses_1",
        created_at="2026-11-16T09:00:00.000000Z",
        updated_at="2026-11-16T09:00:00.000000Z",
        entries=tuple(entries),
        summary=LedgerSummary.of(tuple(entries)),
        risk_flags=tuple(
            RiskFlag(
                id=f"rsk_{at}",
                type=chosen.choice(list(RiskType)),
                severity=chosen.choice(list(Severity)),
                description=texts(),
                affected_claim_ids=tuple(claim.id for claim in claims),
                mitigation=texts(blank=True),
            )
            for at in range(chosen.randint(0, 3))
        ),
        follow_up_questions=(texts(),),
    )
    session = LedgerSession(
        id="ses_1",
        title=f"{MARKUP} {PHONE} {texts(300)}",
        query=texts(blank=True),
        answer_name=texts(200, first="a"),
        answer=answer,
        claims=tuple(claims),
        left_out=left_out,
        ledger=ledger,
        documents=(
            CheckedDocument(
                id=texts(90),
                version=1,
                filename=texts(200, first="d"),
                media_type=texts(90),
                sha256="a" * 64,
                dated=texts(40),
            ),
        ),
        unread=(UnreadFile(filename=texts(90), problem=texts()),),
        judges=(texts(90),),
        program=texts(90),
    )
    payload = session.to_statement().encode()
    body = {"statement_sha256": sha256_hex(payload), "predicate_type": session.predicate_type}
    proof = replace(make_proof(body=body), envelope=Envelope.sign(payload, KEY))
    return written(proof.as_json())


# What must hold


def problems(pdf: bytes, given: bytes) -> Iterator[str]:
    """Say what is wrong with the PDF of hostile evidence, but for what a validator finds."""
    files = embedded(pdf)
    if set(files) != {EVIDENCE_FILE, RENDERING_FILE} or files[EVIDENCE_FILE] != given:
        yield f"other files are embedded: {sorted(files)}"
    report = verify_pdf(pdf, TRUSTED)
    if not report.holds:
        yield f"it does not hold: {[check.says for check in report.checks if not check.holds]}"
    yield from _active(pdf)
    seen = "\n".join(visual_lines(pdf))
    for turned in REVERSED:
        if turned in seen:
            yield f"{turned} is turned around"
    if PHONE not in seen:
        yield f"{PHONE} is not to be seen"
    in_english = b'"lang":"ar"' not in files.get(RENDERING_FILE, b"")
    if in_english and MARKUP.partition("[")[0] not in seen:
        yield f"{MARKUP} is not seen as it is"


def _active(pdf: bytes) -> Iterator[str]:
    """Say what in a PDF's own objects would do something when it is opened or clicked."""
    objects = re.sub(rb"stream\n.*?\nendstream", b"", pdf, flags=re.DOTALL)
    plain = b"".join(_outside_strings(objects))
    for name in (b"/JavaScript", b"/JS", b"/Launch", b"/SubmitForm", b"/OpenAction", b"/AA"):
        if re.search(name + rb"(?![A-Za-z])", plain):
            yield f"{name.decode()} is in it"
    if b"/S/URI" in plain:
        yield "it has links: what leads somewhere else is a text"


def _outside_strings(objects: bytes) -> Iterator[bytes]:
    """Give what stands outside of the strings of PDF's objects, which may have others in them."""
    depth = start = 0
    for found in re.finditer(rb"\\.|[()]", objects, flags=re.DOTALL):
        if found[0] == b"(":
            if not depth:
                yield objects[start : found.start()]
            depth += 1
        elif found[0] == b")" and depth:
            depth -= 1
            start = found.end()
    yield objects[start:]


def visual_lines(pdf: bytes) -> Iterator[str]:
    """Give the lines of all pages as the eye sees them: from left to right, without spaces."""
    document = pypdfium2.PdfDocument(pdf)
    x, y = c_double(), c_double()
    for page in document:
        text = page.get_textpage()
        lines: dict[int, list[tuple[float, str]]] = defaultdict(list)
        for at in range(text.count_chars()):
            character = chr(pdfium.FPDFText_GetUnicode(text.raw, at))
            pdfium.FPDFText_GetCharOrigin(text.raw, at, x, y)
            if not character.isspace():
                lines[round(y.value)].append((x.value, character))
        text.close()
        page.close()
        for _, line in sorted(lines.items(), reverse=True):
            yield "".join(character for _, character in sorted(line, key=lambda one: one[0]))
    document.close()
