"""The checker of a published log: whatever is changed, missing or too much is found."""

from collections.abc import Callable

import pytest

import tiers
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, genesis_prev
from evidentia.trail.merkle import leaf_hash, root_hash
from evidentia.trail.publication import MAX_FINDINGS, PublicationAudit, audit_publication
from evidentia.trail.tiles import Frontier, decode_bundle, encode_bundle, tile_path
from proofs import ORIGIN

Files = dict[str, bytes]


def make_log(size: int) -> list[bytes]:
    """Return the entries of a log."""
    entries: list[bytes] = []
    for seq in range(size):
        prev = leaf_hash(entries[-1]).hex() if entries else genesis_prev(ORIGIN)
        at = "2026-01-31T09:30:00.000000Z"
        entry = Entry("acme", seq, prev, "evidence_record", f"ob-{seq}", at, "0" * 64)
        entries.append(entry.encode())
    return entries


def publish(entries: list[bytes]) -> tuple[Checkpoint, Files]:
    """Return a log's checkpoint, and its files by their paths."""
    leaves = [leaf_hash(one) for one in entries]
    frontier = Frontier()
    tiles = [*frontier.extend(leaves), *frontier.partial_tiles()]
    files = {tile_path(one.level, one.index, one.width): one.data for one in tiles}
    for at in range(0, len(entries), 256):
        bundle = entries[at : at + 256]
        files[tile_path("entries", at // 256, len(bundle))] = encode_bundle(bundle)
    return Checkpoint(ORIGIN, len(entries), frontier.root()), files


LOG = make_log(600)


def audited(files: Files, size: int = 600, *sizes: int) -> PublicationAudit:
    checkpoint, _ = publish(LOG[:size])
    return audit_publication(checkpoint, lambda path, _: files.get(path), sizes=sizes)


def problems(files: Files, size: int = 600) -> list[str]:
    found = audited(files, size)
    return found.entry_problems + found.tile_problems


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 512, 600])
def test_a_published_log_is_followed_to_its_root(size: int) -> None:
    checkpoint, files = publish(LOG[:size])
    seen: list[Entry] = []
    done: list[int] = []
    found = audit_publication(
        checkpoint, lambda path, _: files.get(path), see=seen.append, progress=done.append
    )
    assert (found.size, found.root) == (size, checkpoint.root)
    assert (found.entry_problems, found.tile_problems) == ([], [])
    assert [one.encode() for one in seen] == LOG[:size]
    assert done == [*range(256, size, 256), *([size] if size else [])]
    assert found.tiles == sum(not path.startswith("tile/entries") for path in files)


def test_roots_and_leaves_that_are_asked_for_are_told() -> None:
    checkpoint, files = publish(LOG)
    sizes = (1, 255, 256, 257, 600, 700)
    found = audit_publication(
        checkpoint, lambda path, _: files.get(path), sizes=sizes, places=(0, 300, 700)
    )
    leaves = [leaf_hash(one) for one in LOG]
    assert found.roots == {size: root_hash(leaves[:size]) for size in sizes if size <= 600}
    assert found.leaves == {0: leaves[0], 300: leaves[300]}


def test_a_partial_file_that_is_gone_is_read_from_the_full_one() -> None:
    _, files = publish(LOG)
    _, smaller = publish(LOG[:300])
    upper = {"tile/1/000.p/1": smaller["tile/1/000.p/1"]}
    assert not problems({**files, **upper}, 300)  # 44 of 256 are due, and the full ones are there
    assert audited(files, 300).size == 300
    spoiled = {**files, **upper, "tile/0/001": files["tile/0/001"][32:]}
    assert problems(spoiled, 300) == ["tile/0/001.p/44: its hashes are not the entries'"]


def test_files_that_are_not_there_are_named() -> None:
    _, files = publish(LOG)
    for path in files:
        rest = {name: data for name, data in files.items() if name != path}
        assert problems(rest) == [f"{path} is not there"]
        assert (audited(rest).size == 600) == (not path.startswith("tile/entries"))


@pytest.mark.no_cover
def test_a_flipped_byte_of_any_file_is_found() -> None:
    checkpoint, files = publish(LOG)
    for path, data in files.items():
        for at in range(0, len(data), tiers.count(997, short=4_987)):
            changed = bytearray(data)
            changed[at] ^= 1
            found = audited({**files, path: bytes(changed)})
            noted = found.entry_problems + found.tile_problems
            assert noted or found.root != checkpoint.root, (path, at)


def rewritten(index: int, change: Callable[[list[bytes]], None]) -> Files:
    """Return the files with a bundle changed."""
    _, files = publish(LOG)
    name = tile_path("entries", index, 256 if index < 2 else 88)
    bundle = decode_bundle(files[name])
    change(bundle)
    return {**files, name: encode_bundle(bundle)}


def test_bundles_of_another_length_or_form_are_no_bundles() -> None:
    def drop(bundle: list[bytes]) -> None:
        del bundle[-1]

    def add(bundle: list[bytes]) -> None:
        bundle.append(bundle[-1])

    assert problems(rewritten(0, drop))[0] == "tile/entries/000: holds 255 entries, and 256 are due"
    assert problems(rewritten(0, add))[0] == "tile/entries/000: holds 257 entries, and 256 are due"
    assert problems(rewritten(2, add))[0].endswith("holds 89 entries, and 88 are due")
    _, files = publish(LOG)
    cut = {**files, "tile/entries/000": files["tile/entries/000"][:-1]}
    assert problems(cut)[0] == "tile/entries/000: the entry bundle is cut short"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b'"seq":5,', b'"seq":6,', "entry 5: says it is entry 6"),
        (b'"acme"', b'"beta"', "entry 5: belongs to tenant 'beta'"),
        (b'"seq":5,', b'"seq": 5,', "entry 5: the entry's bytes are not its canonical JSON"),
        (b'"prev":"', b'"prev":"0', "entry 5: the entry's prev is not a SHA-256"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said(old: bytes, new: bytes, says: str) -> None:
    def change(bundle: list[bytes]) -> None:
        bundle[5] = bundle[5].replace(old, new)

    found = problems(rewritten(0, change))
    assert found[0].startswith(says)
    assert "entry 6: does not follow entry 5: its prev is another hash" in found
    assert "tile/0/000: its hashes are not the entries'" in found


def test_a_log_of_another_origin_does_not_begin_here() -> None:
    _, files = publish(LOG[:1])
    checkpoint = Checkpoint("evidentia/other/acme", 1, bytes(32))
    found = audit_publication(checkpoint, lambda path, _: files.get(path))
    assert found.entry_problems == ["entry 0: does not begin this log: its prev is another hash"]


def test_of_many_problems_the_first_ones_are_told() -> None:
    def spoil(bundle: list[bytes]) -> None:
        bundle[:] = [b"{}"] * len(bundle)

    assert len(audited(rewritten(0, spoil)).entry_problems) == MAX_FINDINGS
