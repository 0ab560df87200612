"""The workspace: the one object a user holds, and the shell around the deciding code.

It brings the clock, the randomness, the database and the files; what it returns are values.
"""

import re
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from evidentia.errors import InputError
from evidentia.workspace.acting import PLAINLY, Acting, Asked
from evidentia.workspace.opened import DEFAULT_TENANT, Opened, open_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evidentia.access.actions import Authorizer
    from evidentia.bundles.model import EvidenceBundle
    from evidentia.ledger.model import EvidenceLedger
    from evidentia.packs.model import EvidencePack
    from evidentia.proof.document import Proof
    from evidentia.proof.keys import TrustedKey
    from evidentia.proof.verification import ProofReport
    from evidentia.sources.model import (
        CandidateItem,
        EvidenceChunk,
        EvidencePackOptions,
        PackedSources,
    )
    from evidentia.store.database import ServerOptions
    from evidentia.store.keys import Keys, Passphrase
    from evidentia.store.lake import Lake
    from evidentia.trail.note import VerifierKey
    from evidentia.workspace.access import Roles
    from evidentia.workspace.auditing import Whole
    from evidentia.workspace.bundles import Bundles
    from evidentia.workspace.documents import Documents
    from evidentia.workspace.jobs import Jobs
    from evidentia.workspace.judges import Judges
    from evidentia.workspace.ledgers import Ledgers
    from evidentia.workspace.packs import Packs
    from evidentia.workspace.spans import Spans
    from evidentia.workspace.tools import Tools
    from evidentia.workspace.trail import Trail


_BUNDLE = re.compile(r"[0-9a-f]{4,8}(?:-[0-9a-f-]*)?")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


if TYPE_CHECKING:

    def _flat(
        method: Callable[Concatenate[Any, Arguments], Result],
    ) -> Callable[Concatenate["Workspace", Arguments], Result]:
        """Tell a type checker that a verb of the workspace is a method of one of its parts."""


class _Verb:
    """A verb of the flow: the method of a part, called on the workspace itself."""

    def __init__(self, part: str, method: str) -> None:
        self._part, self._method = part, method

    def __get__(self, workspace: "Workspace | None", _: type) -> Any:
        return self if workspace is None else getattr(getattr(workspace, self._part), self._method)


class Workspace:
    """A tenant's evidence in one user's name: the verbs of the flow, and the rest in parts.

    Any number of threads and processes may hold one on the same data. Use it as a context manager,
    or call `close`. What a user may do is what the guard says; `user` is None for the owner.
    """

    def __init__(
        self,
        opened: Opened,
        tenant: str = DEFAULT_TENANT,
        user: str | None = None,
        asked: Asked = PLAINLY,
    ) -> None:
        self.opened = opened
        self._acting = Acting(opened, tenant, user, asked)

    def __enter__(self) -> Self:
        self.opened.database.require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def tenant(self) -> str:
        """Whose evidence this is."""
        return self._acting.tenant

    @property
    def user(self) -> str | None:
        """In whose name it is used; None is the owner."""
        return self._acting.user

    @property
    def agent(self) -> str | None:
        """Which agent it is in the hands of, in the user's name; None if none."""
        return self._acting.asked.agent

    def acting_as(self, user: str) -> "Workspace":
        """Return this workspace in the name of a user: what they may do is what grants say."""
        return self.opened.for_(self.tenant, user, self._acting.asked)

    def by_agent(self, agent: str) -> "Workspace":
        """Return this workspace in the hands of an agent, which acts in the same name.

        It may do what the guard's table has for agents, and no more than whose name it acts in: it
        reads evidence, checks answers and records its own decisions. It is recorded as who acted.
        """
        asked = replace(self._acting.asked, agent=agent)
        return self.opened.for_(self.tenant, self.user, asked)

    def admit(self, method: str, pack: str | None = None) -> None:
        """Raise `AccessError` unless the user may call a method of a part, named `part.method`.

        What is about a pack is decided by which `pack` it is: without one, it is when it is called.
        """
        if pack is None:
            self._acting.admit(method)
        else:
            self._acting.guard.admit(method, pack)

    def close(self) -> None:
        """Close what was opened, for all workspaces that share it; once closed, it stays so."""
        self.opened.close()

    # The parts

    @cached_property
    def trail(self) -> "Trail":
        """The log: append to it, read it, prove entries of it, check it whole; its keys."""
        from evidentia.workspace.trail import Trail  # noqa: PLC0415 - parts are loaded when they are used

        return Trail(self._acting)

    @cached_property
    def documents(self) -> "Documents":
        """The library: documents, their passages, and the citations that name them."""
        from evidentia.workspace.documents import Documents  # noqa: PLC0415 - the same

        return Documents(self._acting)

    @cached_property
    def ledgers(self) -> "Ledgers":
        """The ledgers of answers that were checked."""
        from evidentia.workspace.ledgers import Ledgers  # noqa: PLC0415 - the same

        return Ledgers(self._acting)

    @cached_property
    def judges(self) -> "Judges":
        """Judges that send documents somewhere, and where they may go."""
        from evidentia.workspace.judges import Judges  # noqa: PLC0415 - the same

        return Judges(self._acting)

    @cached_property
    def bundles(self) -> "Bundles":
        """What models were shown, and which run was shown what."""
        from evidentia.workspace.bundles import Bundles  # noqa: PLC0415 - the same

        return Bundles(self._acting)

    @cached_property
    def packs(self) -> "Packs":
        """Decisions and their packs: made, reviewed, exported, kept."""
        from evidentia.workspace.packs import Packs  # noqa: PLC0415 - the same

        return Packs(self._acting)

    @cached_property
    def tools(self) -> "Tools":
        """The calls of tools, by decision."""
        from evidentia.workspace.tools import Tools  # noqa: PLC0415 - the same

        return Tools(self._acting)

    @cached_property
    def whole(self) -> "Whole":
        """All of it at once: its audit."""
        from evidentia.workspace.auditing import Whole  # noqa: PLC0415 - the same

        return Whole(self._acting)

    @cached_property
    def jobs(self) -> "Jobs":
        """Long work that servers do: asked for, looked at, cancelled."""
        from evidentia.workspace.jobs import Jobs  # noqa: PLC0415 - the same

        return Jobs(self._acting)

    @cached_property
    def spans(self) -> "Spans":
        """What tracers sent, until it is recorded."""
        from evidentia.workspace.spans import Spans  # noqa: PLC0415 - the same

        return Spans(self._acting)

    @cached_property
    def access(self) -> "Roles":
        """Who has which role, and whose agents are whose."""
        from evidentia.workspace.access import Roles  # noqa: PLC0415 - the same

        return Roles(self._acting)

    # The flow

    if TYPE_CHECKING:
        ingest = _flat(Documents.ingest)
        bundle = _flat(Bundles.build)
        check = _flat(Ledgers.check)
        check_many = _flat(Ledgers.check_many)
        assemble = _flat(Packs.assemble)
        append = _flat(Trail.append)
        audit = _flat(Whole.audit)
    else:
        ingest = _Verb("documents", "ingest")
        bundle = _Verb("bundles", "build")
        check = _Verb("ledgers", "check")
        check_many = _Verb("ledgers", "check_many")
        assemble = _Verb("packs", "assemble")
        append = _Verb("trail", "append")
        audit = _Verb("whole", "audit")

    def pack_sources(
        self,
        candidates: "Sequence[CandidateItem]",
        evidence_chunks: "Sequence[EvidenceChunk] | None" = None,
        options: "EvidencePackOptions | None" = None,
    ) -> "PackedSources":
        """Return what a reader is shown of what a retriever found; nothing is recorded."""
        from evidentia.sources.packing import DefaultEvidencePacker  # noqa: PLC0415 - the same

        self.opened.database.require_open()
        return DefaultEvidencePacker().pack(candidates, evidence_chunks, options)

    def prove(self, of: "int | str | EvidenceLedger | EvidenceBundle | EvidencePack") -> "Proof":
        """Prove an entry by its number, or a ledger, bundle or pack by itself or its id."""
        if isinstance(of, int):
            return self.trail.prove(of)
        identity = _identity(of)
        return getattr(self, _part_of(identity)).prove(identity)  # type: ignore[no-any-return]

    def export(
        self,
        of: "str | EvidenceLedger | EvidenceBundle | EvidencePack",
        file: str | Path,
        **how: Any,
    ) -> Path:
        """Write a ledger, a bundle or a pack to a file, in the form that its ending names."""
        identity = _identity(of)
        return getattr(self, _part_of(identity)).export(identity, file, **how)  # type: ignore[no-any-return]

    def verify(
        self,
        evidence: str | Path | bytes,
        *,
        key: "str | Path | VerifierKey | TrustedKey | None" = None,
    ) -> "ProofReport":
        """Verify a file from the file alone; without a key, by the one that signs this log now."""
        from evidentia.verifying import verify  # noqa: PLC0415 - the same

        self.opened.database.require_open()
        return verify(evidence, key=self.trail.public_key() if key is None else key)


def open_workspace(
    target: str | Path | None = None,
    *,
    tenant: str = DEFAULT_TENANT,
    user: str | None = None,
    home: str | Path | None = None,
    create: bool = True,
    read_only: bool = False,
    passphrase: "Passphrase | None" = None,
    authorizer: "Authorizer | None" = None,
    lake: "Lake | str | None" = None,
    keys: "Keys | str | None" = None,
    checkpoints: str | None = None,
    server: "ServerOptions | None" = None,
) -> Workspace:
    """Open a workspace: a folder (`./.evidentia` by default) or a `postgresql://` URL.

    A folder's database is made and brought up to date by itself; a server's by
    `evidentia db upgrade`. With a server, `home` is where keys and checkpoints are kept.
    `create=False` opens only what is there; `read_only` moreover leaves the database's file alone.
    `passphrase` opens encrypted signing keys, and new ones are encrypted with it; a function is
    called when a key has to be opened or made. `user` is in whose name it is opened, the owner if
    none is named. What a user may do the grants in the trail say; an `authorizer` narrows it.
    `lake` is where files are kept, by default in the folder: another one, `s3://bucket/prefix`
    (also `gs://` and `az://`), or a lake of your own. `keys` is where private keys are, by default
    in the folder: another one, a token (`pkcs11:token=NAME?module-path=…`), or keys of your own.
    `checkpoints` is a bucket (`s3://bucket/prefix`) that each log's newest checkpoint follows to.
    `server` says how PostgreSQL is connected to.
    """
    opened = open_all(
        target,
        home=home,
        create=create,
        read_only=read_only,
        passphrase=passphrase,
        authorizer=authorizer,
        lake=lake,
        keys=keys,
        checkpoints=checkpoints,
        server=server,
    )
    try:
        return opened.for_(tenant, user)
    except BaseException:
        opened.close()
        raise


def _identity(of: Any) -> str:
    if isinstance(of, str):
        return of
    for name in ("bundle_id", "pack_id", "id"):
        if isinstance(found := getattr(of, name, None), str):
            return found
    raise InputError(f"{type(of).__name__} is no ledger, bundle or pack: give one, or its id")


def _part_of(identity: str) -> str:
    """Return the part that an id belongs to: it says by its beginning what it is of."""
    if identity.startswith(("led_", "ses_")):
        return "ledgers"
    if identity.startswith("pack_"):
        return "packs"
    if _BUNDLE.fullmatch(identity):
        return "bundles"
    raise InputError(
        f"{identity[:80]!r} is no id of a ledger, a bundle or a pack: give one, or ask the part "
        "(ws.packs, ws.ledgers, ws.bundles), which takes names such as 'latest' too"
    )
