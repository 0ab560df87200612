"""The judges' part: those that are made for a workspace, and where documents may go to be judged.

A judge that sends documents somewhere is made only for an endpoint that the owner has allowed,
which the trail says. What it is shown and what it answers are bundles, under one run of the trail.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from evidentia.errors import AccessError, InputError, NotFoundError
from evidentia.judges import JUDGES, can_read_meaning, make_judges
from evidentia.judges.llm.endpoint import LanguageModel, endpoint_url
from evidentia.ledger.judging import Judge
from evidentia.ledger.votes import AskedService, Judging
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import EntryKind
from evidentia.workspace.access import AllowedEndpoint, access_of
from evidentia.workspace.acting import Acting
from evidentia.workspace.part import Part

if TYPE_CHECKING:
    from evidentia.bundles.building import BuiltBundle
    from evidentia.judges.llm.judge import LlmJudge

Asked = Sequence[str | Judge | LanguageModel]
LLM: Final = "llm"
_RUN_BYTES: Final = 8


class Judges(Part, name="judges"):
    """A tenant's judges that send documents somewhere, and the endpoints they may go to."""

    def allow(self, url: str) -> Receipt:
        """Allow that documents go to an endpoint to be judged; the trail says who allowed it."""
        acting, where = self._acting, endpoint_url(url)
        body = {"action": "allow_judge", "url": where, "by": acting.actor}
        return acting.record(EntryKind.ACCESS, f"judge/{where}", body)

    def disallow(self, url: str) -> Receipt:
        """Let no more documents go to an endpoint that was allowed."""
        acting, where = self._acting, endpoint_url(url)
        if where not in access_of(acting).endpoints:
            raise NotFoundError(f"{where} is not allowed: nothing is changed")
        body = {"action": "disallow_judge", "url": where, "by": acting.actor}
        return acting.record(EntryKind.ACCESS, f"judge/{where}", body)

    def allowed(self) -> list[AllowedEndpoint]:
        """Return the endpoints that documents may go to, by their URLs."""
        endpoints = access_of(self._acting).endpoints
        return [endpoints[url] for url in sorted(endpoints)]

    def make(self, judges: Asked | None = None, *, record: bool = True) -> list[Judge]:
        """Return judges as a check asks them: by name, your own, or language models.

        With `record=False` what a language model is shown is not kept: for pairs that are no one's
        evidence.
        """
        return made(self._acting, judges, record=record)


class _Recorded:
    """Keeps what a judge is shown and what it answers as bundles of a run, if it may be shown."""

    def __init__(self, acting: Acting, url: str) -> None:
        self._acting = acting
        self._url = url

    def now(self) -> str:
        return self._acting.now

    def shown(self, built: "BuiltBundle") -> str:
        refuse_to_send(self._acting, self._url)
        run = f"judge-{self._acting.opened.randomness(_RUN_BYTES).hex()}"
        self._keep(run, built)
        return run

    def answered(self, run: str, built: "BuiltBundle") -> None:
        self._keep(run, built)

    def _keep(self, run: str, built: "BuiltBundle") -> None:
        from evidentia.workspace.bundles import Bundles, record_built  # noqa: PLC0415 - few ask for it

        bundle = record_built(self._acting, built, None)
        Bundles(self._acting).record_run(run, bundle.bundle_id)


def made(acting: Acting, given: Asked | None, *, record: bool = True) -> list[Judge]:
    """Return judges in the given order, or all that are installed; see `Judges.make`."""
    if given is None:
        return make_judges()
    if not given:
        raise InputError(f"no judge was named: use {', '.join(JUDGES)}, or leave it out for all")
    several = sum(isinstance(one, LanguageModel) for one in given) > 1
    judges: list[Judge] = []
    for one in given:
        if isinstance(one, LanguageModel):
            judges.append(_language_judge(acting, one, record=record, has_others=several))
        elif one == LLM:
            raise InputError(
                "the llm judge needs to know which model to ask: give an ev.LanguageModel in place "
                "of the name; on the command line, set EVIDENTIA_LLM_URL and EVIDENTIA_LLM_MODEL"
            )
        else:
            judges.append(make_judges([one])[0] if isinstance(one, str) else one)
    return judges


def services_of(judging: Judging, judges: Sequence[Judge]) -> Judging:
    """Return what is recorded of voting with the services that judges asked."""
    asked = [getattr(judge, "service", None) for judge in judges]
    services = tuple(service for service in asked if isinstance(service, AskedService))
    return judging.model_copy(update={"services": services})


def refuse_to_send(acting: Acting, url: str) -> None:
    """Raise `AccessError` unless the owner has allowed that documents go to an endpoint."""
    if url not in access_of(acting).endpoints:
        raise AccessError(
            f"passages of documents would be sent to {url}, which the owner has not allowed: "
            f"evidentia judge allow {url}"
        )


def _language_judge(
    acting: Acting, model: LanguageModel, *, record: bool, has_others: bool
) -> "LlmJudge":
    from evidentia.judges.llm.client import Client  # noqa: PLC0415 - an extra
    from evidentia.judges.llm.judge import LlmJudge  # noqa: PLC0415 - the same
    from evidentia.store.answers import RememberedAnswers  # noqa: PLC0415 - the same

    refuse_to_send(acting, model.url)
    folder = acting.opened.home.answers(acting.tenant)
    judge = LlmJudge(
        model,
        Client(model).post,
        witness=_Recorded(acting, model.url) if record else None,
        # what was not recorded has no run to point to: a check that is must ask again
        memory=RememberedAnswers(folder if record else folder / "measured"),
        secret=acting.opened.keys.secret(acting.tenant),
        reads_meaning=can_read_meaning(),
    )
    if has_others:
        judge.name = f"{LLM}:{model.model}"
    return judge
