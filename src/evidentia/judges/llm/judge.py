"""The llm judge: asks a language model about whole claims, and believes nothing it can check.

It is shown the passages found for a claim, fenced, with several claims of an answer in one call.
What it quotes must stand there. An answer that cannot be used is asked for again, claim by claim;
then the claim is not judged, with the reason. What was answered before is remembered by the digests
of model, prompt, claim and passages. Sending, keeping and remembering are handed in.
"""

import hmac
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, cast

from pydantic import ValidationError

from evidentia.bundles.building import BuiltBundle
from evidentia.canonical import canonical_json, digest, parse_json
from evidentia.errors import CanonicalError, EnvironmentProblem
from evidentia.judges.llm.endpoint import LanguageModel
from evidentia.judges.llm.prompt import INSTRUCTIONS, PROMPT_SHA256
from evidentia.judges.llm.reading import (
    GivenVerdict,
    has_quote,
    read_verdicts,
    speaks_to_judges,
)
from evidentia.judges.llm.showing import (
    Shown,
    answer_bundle,
    as_shown,
    claim_name,
    shown_bundle,
    shown_in_parts,
)
from evidentia.judges.llm.wire import Form, Reply, read_reply, refusal_of, request_body
from evidentia.ledger.judging import Opinion
from evidentia.ledger.model import Claim, EvidenceMatch, Passage, SupportLevel
from evidentia.ledger.votes import AskedService
from evidentia.ledger.voting import Answer, Question

NAME: Final = "llm"
_REFUSED: Final = (400, 413, 422)
"""What servers answer to a request that has something in it that they don't take."""
_WEIGHT: Final = ("contradicted", "supported", "weak", "not_found")
"""Which verdict on a part of the evidence speaks for the whole, the first of these."""
_LEVELS: Final = {"supported": SupportLevel.FULL, "weak": SupportLevel.PARTIAL}
_EVEN: Final = 0.5
TOO_LONG: Final = "the service says that the request is too long for it"
_TOO_LARGE: Final = 413
_LENGTH: Final = re.compile(
    r"\bcontext\b|\bprompt is too long\b|\b(?:input|request|prompt)\b.{0,30}\btoo (?:long|large)\b"
    r"|\bmaximum\b.{0,30}\blength\b|\bexceeds?\b.{0,40}\b(?:tokens?|length|size)\b",
    re.IGNORECASE,
)
"""How services say that a request is longer than what they read."""
_LEAST_BYTES: Final = 500
"""Evidence that is no longer than this is not split any more."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What came of posting a request: the reply's bytes with its status, or a problem."""

    status: int = 0
    data: bytes = b""
    problem: str = ""
    attempts: int = 1


Send = Callable[[Mapping[str, Any]], Posted]


class Witness(Protocol):
    """Keeps what a judge was shown and what it answered, under the name of a run."""

    def now(self) -> str:
        """Return the time, as bundles write it."""

    def shown(self, built: BuiltBundle) -> str:
        """Keep what is about to be shown; return the run's name."""

    def answered(self, run: str, built: BuiltBundle) -> None:
        """Keep what was posted in a run, and what came back."""


class Memory(Protocol):
    """Remembers bytes by a digest, across checks."""

    def get(self, name: str) -> bytes | None:
        """Return what is remembered, if anything is."""

    def put(self, name: str, data: bytes) -> None:
        """Remember some bytes."""


class Forgetful:
    """Keeps nothing and remembers nothing: for measuring a judge on what is no one's evidence."""

    def now(self) -> str:
        """Return a time that says nothing."""
        return "1970-01-01T00:00:00.000000Z"

    def shown(self, built: BuiltBundle) -> str:
        """Keep nothing."""
        del built
        return ""

    def answered(self, run: str, built: BuiltBundle) -> None:
        """Keep nothing."""

    def get(self, name: str) -> bytes | None:
        """Remember nothing."""

    def put(self, name: str, data: bytes) -> None:
        """Remember nothing."""


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """A claim, and a part of its evidence that is sent at once."""

    claim: Claim
    shown: tuple[Shown, ...]
    name: str
    """The digest by which its verdict is remembered."""

    @property
    def size(self) -> int:
        return sum(one.size for one in self.shown)


@dataclass(frozen=True, slots=True)
class _Found:
    """A verdict on an inquiry with the passage that it quotes; or why there is none."""

    verdict: GivenVerdict | None = None
    passage: Passage | None = None
    denied: str = ""
    """Why the quote does not count."""
    failure: str = ""
    run: str = ""
    remembered: bool = False


_Part = tuple[_Inquiry, _Found]


@dataclass(slots=True)
class _Taken:
    """What asking took so far."""

    calls: int = 0
    attempts: int = 0
    remembered: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    models: dict[str, None] = field(default_factory=dict)

    def add(self, reply: Reply) -> None:
        self.calls += 1
        self.input_tokens = _sum(self.input_tokens, reply.input_tokens)
        self.output_tokens = _sum(self.output_tokens, reply.output_tokens)
        if reply.model:
            self.models[reply.model] = None


class LlmJudge:
    """Asks a language model of your choosing, over HTTP, about what the others are in doubt of."""

    name = NAME

    def __init__(
        self,
        model: LanguageModel,
        send: Send,
        *,
        witness: Witness | None = None,
        memory: Memory | None = None,
        secret: bytes = b"",
        reads_meaning: bool = False,
    ) -> None:
        self._model = model
        self._send = send
        self._witness = witness or Forgetful()
        self._memory = memory or Forgetful()
        self._secret = secret
        self.reads_meaning = reads_meaning
        self._form = Form()
        self._taken = _Taken()
        self._gone = ""

    @property
    def digest(self) -> str:
        """The SHA-256 of what identifies the judge: where the model is, its name, the prompt."""
        model = self._model
        return digest(
            {"api": model.api, "model": model.model, "prompt": PROMPT_SHA256, "url": model.url}
        )

    @property
    def service(self) -> AskedService:
        """What was asked, and what it took so far."""
        model, taken = self._model, self._taken
        tokens = taken.input_tokens, taken.output_tokens
        cost = None
        if tokens[0] is not None and tokens[1] is not None:
            cost = model.cost(tokens[0], tokens[1])
        return AskedService(
            judge=self.name,
            digest=self.digest,
            url=model.url,
            api=model.api,
            model=model.model,
            answered_by=tuple(taken.models),
            prompt_sha256=PROMPT_SHA256,
            calls=taken.calls,
            attempts=taken.attempts,
            remembered=taken.remembered,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cost=cost,
            currency=None if cost is None else model.currency,
        )

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        """Return an opinion on the passage that decides; raise if the model gives no verdict."""
        (answer,) = self.judge_all([Question(claim, tuple(passages))])
        if answer.failure:
            raise EnvironmentProblem(answer.failure)
        known = {opinion.match.passage: opinion for opinion in answer.opinions}
        return [known.get(passage) for passage in passages]

    def judge_all(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Give an answer to each question; several claims go into one call."""
        asked = [self._inquiries(question) for question in questions]
        found: dict[str, list[_Part]] = {}
        waiting: dict[str, _Inquiry] = {}
        answered = 0
        for inquiries in asked:
            for inquiry in inquiries:
                if inquiry.name in found or inquiry.name in waiting:
                    continue
                known = self._remembered(inquiry)
                if known is not None:
                    found[inquiry.name] = [(inquiry, known)]
                    self._taken.remembered += 1
                    continue
                if waiting and not self._fits([*waiting.values(), inquiry]):
                    found |= self._asked([*waiting.values()])
                    waiting = {}
                waiting[inquiry.name] = inquiry
            while answered < len(asked) and all(one.name in found for one in asked[answered]):
                yield _answer([part for one in asked[answered] for part in found[one.name]])
                answered += 1
        found |= self._asked([*waiting.values()])
        for rest in asked[answered:]:
            yield _answer([part for one in rest for part in found[one.name]])

    def _inquiries(self, question: Question) -> list[_Inquiry]:
        shown = [as_shown(passage) for passage in question.passages]
        parts = shown_in_parts(shown, self._model.evidence_bytes)
        return [_Inquiry(question.claim, part, self._name(question.claim, part)) for part in parts]

    def _name(self, claim: Claim, shown: Sequence[Shown]) -> str:
        pair = {"claim": claim.text, "shown": [one.as_json() for one in shown]}
        return digest({"judge": self.digest, "pair": pair})

    def _fits(self, inquiries: Sequence[_Inquiry]) -> bool:
        together = {one for inquiry in inquiries for one in inquiry.shown}
        return (
            len(inquiries) <= self._model.claims_at_once
            and sum(one.size for one in together) <= self._model.evidence_bytes
        )

    # Asking

    def _asked(self, inquiries: Sequence[_Inquiry]) -> dict[str, list[_Part]]:
        """Ask about claims in one call, and about each alone if the answer cannot be used."""
        if not inquiries:
            return {}
        found = self._call(inquiries)
        if any(one.failure for one in found) and not self._gone:
            return {inquiry.name: self._alone(inquiry) for inquiry in inquiries}
        for inquiry, one in zip(inquiries, found, strict=True):
            self._remember(inquiry, one)
        return {
            inquiry.name: [(inquiry, one)] for inquiry, one in zip(inquiries, found, strict=True)
        }

    def _alone(self, inquiry: _Inquiry) -> list[_Part]:
        """Ask about one claim; by halves of its evidence where the server says it is too long."""
        (found,) = self._call([inquiry])
        if found.failure == TOO_LONG and inquiry.size > _LEAST_BYTES:
            halves = shown_in_parts(inquiry.shown, inquiry.size // 2 + 1)
            return [part for half in halves for part in self._alone(replace(inquiry, shown=half))]
        self._remember(inquiry, found)
        return [(inquiry, found)]

    def _call(self, inquiries: Sequence[_Inquiry]) -> list[_Found]:
        if self._gone:
            return [_Found(failure=self._gone)] * len(inquiries)
        shown = list(dict.fromkeys(one for inquiry in inquiries for one in inquiry.shown))
        built = shown_bundle(
            [inquiry.claim for inquiry in inquiries], shown, at=self._witness.now()
        )
        messages = cast(
            "list[dict[str, str]]", built.bundle.render("openai", key=self._secret).content
        )
        rule, evidence = (message["content"] for message in messages)
        run = self._witness.shown(built)
        reply = self._reply(run, f"{INSTRUCTIONS}\n{rule}", evidence)
        names = [claim_name(number) for number in range(len(inquiries))]
        verdicts = read_verdicts(reply.content, names)
        problem = reply.problem or verdicts.problem
        if problem:
            return [_Found(failure=problem, run=run)] * len(inquiries)
        return [
            _looked_up(inquiry, shown, given, run)
            for inquiry, given in zip(inquiries, verdicts.given, strict=True)
        ]

    def _reply(self, run: str, system: str, user: str) -> Reply:
        """Post a request, in another form if the server refuses this one; keep what comes back."""
        model = self._model
        while True:
            body = request_body(model, system, user, self._form)
            posted = self._send(body)
            self._taken.attempts += posted.attempts
            is_refused = posted.status in _REFUSED
            refusal = model.hidden(refusal_of(posted.data)) if is_refused else ""
            is_long = posted.status == _TOO_LARGE or bool(_LENGTH.search(refusal))
            form = self._form.otherwise(refusal) if model.api == "openai" else None
            if not is_refused or is_long or form is None:
                break
            self._form = form
        said = posted.problem or model.hidden(posted.data.decode(errors="replace"))
        self._witness.answered(run, answer_bundle(body, said, self._witness.now()))
        if is_long:
            return Reply(problem=TOO_LONG)
        if posted.problem or is_refused:
            refused = f"it refused the request ({posted.status}): {refusal}".removesuffix(": ")
            self._gone = f"{model.url}: {posted.problem or refused}"
            return Reply(problem=self._gone)
        reply = read_reply(model, said.encode())
        self._taken.add(reply)
        return reply

    # Remembering

    def _remembered(self, inquiry: _Inquiry) -> _Found | None:
        """Return what was answered before; nothing if it is damaged, or not of this workspace."""
        data = self._memory.get(inquiry.name)
        if data is None:
            return None
        try:
            match parse_json(data):
                case {"mac": str(mac), "run": str(run), "verdict": dict(said)}:
                    pass
                case _:
                    return None
            if not hmac.compare_digest(mac, self._mac(inquiry, run, said)):
                return None
            given = GivenVerdict.model_validate_json(canonical_json(said), strict=True)
        except (CanonicalError, TypeError, ValidationError):
            return None
        found = _looked_up(inquiry, inquiry.shown, given, run)
        return replace(found, remembered=True)

    def _remember(self, inquiry: _Inquiry, found: _Found) -> None:
        """Remember a verdict that can be looked up again by the inquiry alone."""
        if found.verdict is None or inquiry.name != self._name(inquiry.claim, inquiry.shown):
            return
        if found.passage is not None and found.passage not in {
            one.passage for one in inquiry.shown
        }:
            return
        said = found.verdict.model_dump(mode="json")
        mac = self._mac(inquiry, found.run, said)
        self._memory.put(
            inquiry.name, canonical_json({"mac": mac, "run": found.run, "verdict": said})
        )

    def _mac(self, inquiry: _Inquiry, run: str, said: Mapping[str, Any]) -> str:
        """Return what only this workspace can write beside a verdict."""
        message = canonical_json({"name": inquiry.name, "run": run, "verdict": dict(said)})
        return hmac.digest(self._secret or b"evidentia", message, "sha256").hex()


def _looked_up(inquiry: _Inquiry, shown: Sequence[Shown], given: GivenVerdict, run: str) -> _Found:
    """Return a verdict with the passage that has its quote: of the claim's own first."""
    if given.verdict == "not_found":
        return _Found(given, run=run)
    for one in (*inquiry.shown, *shown):
        if has_quote(one.text, given.quote):
            if speaks_to_judges(one.text, given.quote, inquiry.claim.text):
                break
            return _Found(given, one.passage, run=run)
    else:
        return _Found(given, denied="it quotes what is not in the evidence", run=run)
    return _Found(given, denied="it quotes what speaks to whoever judges", run=run)


def _answer(found: Sequence[_Part]) -> Answer:
    """Return what the parts of a claim's evidence say together."""
    runs = tuple(dict.fromkeys(one.run for _, one in found if one.run))
    failed = [one.failure for _, one in found if one.failure]
    if failed:
        return Answer(failure=failed[0], runs=runs)
    told = [(inquiry, one, one.verdict) for inquiry, one in found if one.verdict is not None]
    if not told:
        return Answer(reason="no passage was found to judge it by")
    _, best, given = min(told, key=lambda item: _weight(item[1], item[2]))
    reason = given.short_reason
    if best.denied:
        reason = f"it said {given.verdict.replace('_', ' ')}, but {best.denied}: {reason}"
    return Answer(
        tuple(_opinion(inquiry, one, verdict) for inquiry, one, verdict in told),
        reason=reason,
        quote=given.short_quote,
        runs=runs,
        remembered=all(one.remembered for _, one, _ in told),
    )


def _weight(found: _Found, given: GivenVerdict) -> tuple[bool, int, float]:
    return bool(found.denied), _WEIGHT.index(given.verdict), -given.confidence


def _opinion(inquiry: _Inquiry, found: _Found, given: GivenVerdict) -> Opinion:
    """Return a verdict as an opinion on the passage that decides, or on the best one."""
    sure = given.confidence
    passage = found.passage or inquiry.shown[0].passage
    counts = found.passage is not None
    match = EvidenceMatch(
        similarity=sure,
        support_level=_LEVELS.get(given.verdict, SupportLevel.NONE)
        if counts
        else SupportLevel.NONE,
        contradicts=counts and given.verdict == "contradicted",
        snippet=passage.snippet,
        passage=passage,
        judge=NAME,
        reason=given.short_reason or f"the model says {given.verdict.replace('_', ' ')}",
    )
    return Opinion(match, support=_support(given, sure, denied=bool(found.denied)))


def _support(given: GivenVerdict, sure: float, *, denied: bool) -> float:
    """Return how likely a claim is supported by what a model says, and how sure it is of that."""
    if denied:
        return 0.0
    if given.verdict == "supported":
        return sure
    return sure / 2 if given.verdict == "weak" else min(1 - sure, _EVEN)


def _sum(known: int | None, more: int | None) -> int | None:
    return None if known is None or more is None else known + more
