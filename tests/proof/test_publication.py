"""Verifying a published log: its files and a key in, a report out; what it tells of evidence."""

from typing import Any

import pytest

from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.keys import SigningKey, TrustedKey
from evidentia.proof.publication import About, Publication, log_check, verify_publication
from evidentia.proof.standing import Known, known_by_proof, with_known
from evidentia.proof.succession import NEWER, Succession
from evidentia.proof.verification import Check, ProofReport, Verdict, verify_proof
from evidentia.proof.witnessed import Demand
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, body_commitment, genesis_prev
from evidentia.trail.merkle import inclusion_proof, leaf_hash, root_hash
from evidentia.trail.tiles import Frontier, body_path, encode_bundle, tile_path
from evidentia.trail.witness import MAX_WITNESSES, WitnessKey
from proofs import KEY, ORIGIN, OTHER_KEY, SALT
from witnessing import Witness

AT = "2026-01-31T09:30:00.000000Z"
KEYS = [TrustedKey(KEY.verifier.public_key, ORIGIN)]
NEW_KEYS = [TrustedKey(OTHER_KEY.verifier.public_key, ORIGIN)]
ROTATED: dict[str, Any] = {"key": str(OTHER_KEY.verifier), "replaces": KEY.verifier.key_id}
LOG: list[tuple[str, str, Any]] = [
    ("key", KEY.verifier.key_id, {"key": str(KEY.verifier), "replaces": None}),
    ("pack", "pack_1", {"version": 1, "replaces": None, "outcome": None}),
    ("evidence_record", "ob", {"a": 1}),
    ("review", "pack_2", {"version": 2, "replaces": "pack_1", "outcome": "approved"}),
    ("review", "pack_3", {"version": 3, "replaces": "pack_2", "outcome": "rejected"}),
    ("key", OTHER_KEY.verifier.key_id, ROTATED),
    ("evidence_record", "ob", {"a": 2}),
    ("key", "entries/6-6", {"adopts": {}, "reason": "old", "by": "owner"}),
    (
        "key",
        f"revoked/{KEY.verifier.key_id}/4",
        {"revokes": KEY.verifier.key_id, "from_size": 4, "reason": "it leaked", "by": "owner"},
    ),
]
Files = dict[str, bytes]


def entries_of(rows: list[tuple[str, str, Any]], origin: str = ORIGIN) -> list[Entry]:
    entries: list[Entry] = []
    for seq, (kind, subject, body) in enumerate(rows):
        prev = leaf_hash(entries[-1].encode()).hex() if entries else genesis_prev(origin)
        commitment = body_commitment(SALT, canonical_json(body))
        entries.append(Entry("acme", seq, prev, kind, subject, AT, commitment))
    return entries


ENTRIES = entries_of(LOG)
LEAVES = [leaf_hash(entry.encode()) for entry in ENTRIES]


def note_at(size: int, key: SigningKey = KEY) -> str:
    return Checkpoint(ORIGIN, size, root_hash(LEAVES[:size])).sign(key.private_key)


def published(size: int, key: SigningKey = KEY, *, bodies: bool = True) -> Files:
    """Return the files of the log as it was at a size."""
    frontier = Frontier()
    tiles = [*frontier.extend(LEAVES[:size]), *frontier.partial_tiles()]
    files = {tile_path(one.level, one.index, one.width): one.data for one in tiles}
    files[tile_path("entries", 0, size)] = encode_bundle([e.encode() for e in ENTRIES[:size]])
    files["checkpoint"] = note_at(size, key).encode()
    for seq, (_, _, body) in enumerate(LOG[:size]):
        if bodies:
            files[body_path(seq)] = canonical_json({"body": body, "salt": SALT.hex()})
    return files


def verified(
    files: Files, keys: list[TrustedKey] = KEYS, about: About | None = None, **more: Any
) -> Publication:
    return verify_publication(
        lambda path, limit: (
            files[path] if len(files.get(path, b"")) <= limit and path in files else None
        ),
        keys,
        about=about,
        **more,
    )


def failing(found: Publication) -> list[tuple[str, str]]:
    return [(one.name, one.says) for one in found.report.checks if one.holds is False]


def proof_of(seq: int, size: int, key: SigningKey = KEY) -> Proof:
    def node(height: int, index: int) -> bytes:
        return root_hash(LEAVES[:size][index << height : (index + 1) << height])

    return Proof(
        ENTRIES[seq],
        tuple(inclusion_proof(node, seq, size)),
        note_at(size, key),
        Disclosure(LOG[seq][2], SALT),
    )


def report_of(
    seq: int, size: int, key: SigningKey = KEY, keys: list[TrustedKey] = KEYS
) -> ProofReport:
    return verify_proof(canonical_json(proof_of(seq, size, key).as_json()), keys)


def test_a_published_log_holds_with_its_key_and_is_consistent_without() -> None:
    found = verified(published(5))
    assert found.report.holds
    names = ["format", "entries", "tiles", "root", "signature", "rotation"]
    assert [one.name for one in found.report.checks] == names
    assert verified(published(5), []).report.verdict is Verdict.SIGNER_UNKNOWN
    assert failing(verified(published(5), NEW_KEYS))[0][0] == "signature"
    assert "demand witnesses" in found.report.cannot_know[-1]


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "there is no file 'checkpoint'"),
        ({"checkpoint": b"\xff"}, "is not even text"),
        ({"checkpoint": b"hello"}, "not a signed note"),
    ],
)
def test_what_is_no_published_log_is_said(files: Files, says: str) -> None:
    found = verified(files)
    assert says in failing(found)[0][1]
    assert found.checkpoint is None


def test_entries_and_tiles_that_are_wrong_or_missing_are_told() -> None:
    files = published(5)
    del files["tile/0/000.p/5"]
    assert failing(verified(files)) == [("tiles", "tile/0/000.p/5 is not there")]
    del files["tile/entries/000.p/5"]
    assert failing(verified(files)) == [
        ("entries", "tile/entries/000.p/5 is not there"),
        ("root", "only 0 entries of 5 could be read, so the root was not reached"),
    ]
    other = published(5)
    other["tile/entries/000.p/5"] = encode_bundle([b"{}"] * 5)
    told = dict(failing(verified(other)))
    assert told["entries"].endswith("; and 2 more")
    assert told["root"] == "the entries give another root than the checkpoint's"


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        canonical_json({"body": {"version": 9}, "salt": SALT.hex()}),
        canonical_json({"body": LOG[1][2], "salt": "00"}),
        canonical_json({"body": LOG[1][2], "salt": SALT.hex(), "more": 1}),
        canonical_json({"body": LOG[1][2], "salt": "zz" * 32}),
    ],
)
def test_a_published_body_of_something_else_does_not_hold(data: bytes) -> None:
    found = verified({**published(5), body_path(1): data})
    assert [name for name, _ in failing(found)] == ["entries"]
    assert "body/001: " in failing(found)[0][1]


def test_a_retired_key_signs_no_larger_log() -> None:
    assert verified(published(6)).report.holds  # the last that the old one signs
    assert verified(published(7, OTHER_KEY), NEW_KEYS).report.holds
    for bodies in (True, False):
        found = verified(published(7, bodies=bodies))
        assert [name for name, _ in failing(found)] == ["rotation"]
        assert "a retired key is not believed" in failing(found)[0][1]


def test_a_log_continues_the_checkpoint_that_was_kept() -> None:
    for size in (1, 4, 5):
        found = verified(published(5), since=note_at(size))
        assert found.report.holds
        assert found.report.checks[-1].name == "since"
    empty = Checkpoint(ORIGIN, 0, root_hash([])).sign(KEY.private_key)
    assert verified(published(5), since=empty).report.holds


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        (
            note_at(6),
            "the log was cut back: the checkpoint kept has 6 entries, and 5 are published",
        ),
        (Checkpoint(ORIGIN, 3, bytes(32)).sign(KEY.private_key), "the log was rewritten"),
        (Checkpoint("other/acme", 3, bytes(32)).sign(KEY.private_key), "is of another log"),
        (note_at(3).replace("\n3\n", "\n4\n"), "the checkpoint kept does not hold: the signature"),
    ],
)
def test_a_log_that_does_not_continue_is_told(kept: str, says: str) -> None:
    found = verified(published(5), since=kept)
    assert [name for name, _ in failing(found)] == ["since"]
    assert says in failing(found)[0][1]


def test_a_kept_checkpoint_that_is_none_is_told() -> None:
    assert failing(verified(published(5), since="hello"))[0][0] == "format"


# Witnesses

ONE, TWO = Witness(), Witness("witness.test/w2", 8)
WITNESSES = (WitnessKey.parse(ONE.key), WitnessKey.parse(TWO.key))


def test_a_demand_for_witnesses_is_met_by_as_many_cosignatures() -> None:
    files = published(5)
    text = files["checkpoint"].decode().partition("\n\n")[0] + "\n"
    files["checkpoint"] += ONE.cosign(text).encode()
    assert verified(files, demand=Demand.of(WITNESSES, 1)).report.holds
    told = failing(verified(files, demand=Demand.of(WITNESSES, None)))
    says = (
        "1 witness cosigned, of the 2 given, and 2 are demanded: witness.test/w1 at "
        "2026-09-21T14:13:20Z"
    )
    assert told == [("witnesses", says)]
    files["checkpoint"] += TWO.cosign("x\n").encode()
    assert "does not match" in failing(verified(files, demand=Demand.of(WITNESSES, 1)))[0][1]


def test_a_demand_that_says_nothing_is_refused() -> None:
    assert Demand.of((), None) is None
    twice = Demand.of(WITNESSES * 2, None)
    assert twice is not None
    assert (len(twice.witnesses), twice.quorum) == (2, 2)
    with pytest.raises(InputError, match="a quorum of 2 needs the keys of witnesses"):
        Demand.of((), 2)
    for quorum in (0, -1, 3):
        with pytest.raises(InputError, match="it must be from 1 to 2"):
            Demand.of(WITNESSES, quorum)
    many = tuple(WitnessKey(f"w{at}", bytes(32)) for at in range(MAX_WITNESSES + 1))
    with pytest.raises(InputError, match="33 witnesses, 32 at most"):
        Demand.of(many, 1)


# What a log tells of evidence


def standing(
    report: ProofReport, files: Files, keys: list[TrustedKey] = KEYS
) -> tuple[Publication, ProofReport]:
    assert report.entry is not None
    assert report.checkpoint is not None
    size = int(report.checkpoint.split("\n")[1])
    about = About(report.entry.seq, size)
    found = verified(files, keys, about)
    check = log_check(found, report, about, LEAVES[report.entry.seq])
    known = Known(check, found.announcements, found.successions, found.audit.size, found.unread)
    return found, with_known(report, keys, known)


def pack_report(size: int = 2, **given: Any) -> ProofReport:
    report = report_of(1, size, **given)
    return ProofReport(
        report.checks,
        report.entry,
        report.body,
        cannot_know=("a", NEWER),
        checkpoint=report.checkpoint,
    )


def test_a_published_log_tells_that_a_version_was_superseded() -> None:
    _, report = standing(pack_report(), published(5))
    assert report.holds
    assert [one.version for one in report.later] == [2, 3]
    assert report.superseded is not None
    assert "a review: rejected" in report.superseded
    assert report.cannot_know == ("a",)


def test_a_published_log_tells_that_there_was_no_newer_version_yet() -> None:
    _, report = standing(pack_report(), published(3))
    assert (report.holds, report.superseded) == (True, None)
    assert report.cannot_know[-1] == "whether a newer version replaces it after these 3 entries"
    _, early = standing(pack_report(), published(1))
    assert early.holds
    assert early.checks[-2].says.endswith("of 1 entry ends before entry 1: it tells nothing yet")
    unsigned, report = standing(pack_report(keys=[]), published(3), [])
    assert unsigned.report.verdict is Verdict.SIGNER_UNKNOWN
    assert report.verdict is Verdict.SIGNER_UNKNOWN


def test_versions_whose_bodies_are_not_published_are_counted() -> None:
    _, report = standing(pack_report(), published(5, bodies=False))
    assert (report.holds, report.superseded) == (True, None)
    assert report.cannot_know[-1] == (
        "whether a newer version replaces it: of 2 later packs and reviews it is not published"
    )


def test_evidence_newer_than_a_rotation_by_the_retired_key_does_not_hold() -> None:
    both = [*KEYS, *NEW_KEYS]
    forged = report_of(2, 7)
    assert forged.holds  # from the file alone it cannot be seen
    _, report = standing(forged, published(7, OTHER_KEY), both)
    assert not report.holds
    assert [one.name for one in report.checks if one.holds is False] == ["rotation"]
    _, good = standing(report_of(2, 6), published(7, OTHER_KEY), both)
    assert good.holds


def test_the_announcement_itself_retires_the_key_that_it_replaces() -> None:
    assert report_of(5, 6).holds
    report = report_of(5, 7)
    assert not report.holds
    assert "a retired key is not believed" in report.checks[-1].says
    assert report_of(5, 7, OTHER_KEY, NEW_KEYS).holds


def test_a_log_that_is_another_one_or_does_not_hold_tells_nothing() -> None:
    other = entries_of([LOG[2]] * 7, "evidentia/other/acme")
    root = root_hash([leaf_hash(one.encode()) for one in other])
    files = {
        "checkpoint": Checkpoint("evidentia/other/acme", 7, root).sign(KEY.private_key).encode(),
        "tile/entries/000.p/7": encode_bundle([one.encode() for one in other]),
        "tile/0/000.p/7": b"".join(leaf_hash(one.encode()) for one in other),
    }
    anyone = [TrustedKey(KEY.verifier.public_key)]
    _, report = standing(pack_report(keys=anyone), files, [])
    assert "the published log is another one" in report.checks[-1].says
    spoiled = published(5)
    del spoiled["tile/0/000.p/5"]
    _, report = standing(pack_report(), spoiled)
    assert report.checks[-1].says == (
        "the published log does not hold: tile/0/000.p/5 is not there"
    )
    assert (report.holds, report.later) == (False, ())
    about = About(1, 2)
    none = log_check(verified({}), pack_report(), about, LEAVES[1])
    assert none.holds is False


def test_a_log_with_another_past_than_the_evidence_is_told() -> None:
    found = verified(published(5), about=About(1, 2))
    for about, leaf in ((About(1, 2), bytes(32)), (About(1, 3), LEAVES[1])):
        check = log_check(found, pack_report(), about, leaf)
        assert "has another past than this file" in check.says
    later = verified(published(3), about=About(1, 5))
    assert log_check(later, pack_report(5), About(1, 5), LEAVES[1]).holds


def test_the_proof_of_a_later_entry_tells_of_versions_and_keys() -> None:
    later = known_by_proof(pack_report(), report_of(3, 5), "later.json")
    report = with_known(pack_report(), KEYS, later)
    assert report.holds
    assert report.superseded is not None
    assert report.checks[-1].says == "later.json holds: entry 3, review about 'pack_2'"
    unrelated = known_by_proof(pack_report(), report_of(2, 5), "later.json")
    report = with_known(pack_report(), KEYS, unrelated)
    assert (report.superseded, report.cannot_know) == (None, ("a", NEWER))
    forged = report_of(2, 7)
    rotation = known_by_proof(forged, report_of(5, 6), "key.json")
    report = with_known(forged, KEYS, rotation)
    assert [one.name for one in report.checks if one.holds is False] == ["rotation"]
    good = report_of(2, 6)
    assert with_known(good, KEYS, known_by_proof(good, report_of(5, 6), "key.json")).holds


def test_the_proof_of_something_else_tells_nothing() -> None:
    broken = verify_proof(b"{}", KEYS)
    report = with_known(pack_report(), KEYS, known_by_proof(pack_report(), broken, "later.json"))
    assert not report.holds
    assert report.checks[-1].says.startswith("later.json does not hold: ")
    other = ProofReport((Check("x", holds=True, says=""),), ENTRIES[3], checkpoint="nonsense")
    known = known_by_proof(pack_report(), other, "later.json")
    assert known.check.says == "later.json is of another log (None)"


def test_nothing_is_told_of_what_is_no_evidence() -> None:
    known = Known(Check("log", holds=True, says=""), (), [Succession("a", "b", 2, 1, AT, "pack")])
    broken = verify_proof(b"{}", KEYS)
    assert with_known(broken, KEYS, known).checks == (*broken.checks, known.check)
    plain = with_known(report_of(2, 5), KEYS, known)
    assert plain.cannot_know == report_of(2, 5).cannot_know


# Revoked keys


@pytest.mark.parametrize("bodies", [True, False])
def test_a_published_log_tells_which_key_is_revoked_from_where_on(*, bodies: bool) -> None:
    found = verified(published(9, OTHER_KEY, bodies=bodies), NEW_KEYS)
    assert found.report.holds, found.report.checks  # what adopts and revokes announces no key
    (one,) = found.revocations
    assert (one.seq, one.key_id, one.from_size) == (8, KEY.verifier.key_id, 4)
    assert one.reason == ("it leaked" if bodies else "")
    both = [*KEYS, *NEW_KEYS]
    for size, verdict in ((3, Verdict.HOLDS), (4, Verdict.DOES_NOT_HOLD)):
        check = Check("log", holds=True, says="it is")
        known = Known(check, found.announcements, size=9, revocations=found.revocations)
        report = with_known(report_of(1, size, keys=both), both, known)
        assert report.verdict is verdict
        assert report.checks[-1].name == "revocation"


def test_a_proof_of_a_revocation_tells_it_and_not_by_the_revoked_key_itself() -> None:
    both = [*KEYS, *NEW_KEYS]
    evidence = report_of(1, 5, keys=both)
    told = known_by_proof(evidence, report_of(8, 9, OTHER_KEY, both), "later.json")
    assert [one.key_id for one in told.revocations] == [KEY.verifier.key_id]
    assert with_known(evidence, both, told).verdict is Verdict.DOES_NOT_HOLD
    itself = report_of(8, 9, KEY, both)
    assert [check.name for check in itself.checks if check.holds is False] == ["revocation"]
