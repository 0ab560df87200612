from bundles.making import inline, lake, result, table
from evidentia.bundles.accounting import EvidenceType
from evidentia.bundles.ids import evidence_ids


def test_each_type_has_its_form() -> None:
    digest = "ab" * 32
    one = lake("x")._replace(digest=digest)
    kinds = {
        EvidenceType.LAKE_TEXT: f"lake:{digest[:12]}:0",
        EvidenceType.LAKE_HTTP: f"lake:{digest[:12]}:0",
        EvidenceType.SQL_RESULT: f"sql:{digest[:12]}:0",
        EvidenceType.DOC_CHUNK: f"doc:{digest[:12]}:0",
        EvidenceType.TRANSCRIPT_CHUNK: f"transcript:{digest[:12]}:0",
    }
    for kind, expected in kinds.items():
        assert evidence_ids([one._replace(evidence_type=kind)]) == [expected]
    query = one._replace(evidence_type=EvidenceType.SQL_QUERY_DEF, part="")
    assert evidence_ids([query]) == [f"sqldef:{digest[:12]}"]
    assert evidence_ids([inline("a", 0), inline("b", 1)]) == ["inline:0", "inline:1"]


def test_a_prefix_that_would_collide_grows() -> None:
    digests = ["ab" * 6 + "00" * 26, "ab" * 6 + "01" * 26, "ab" * 6 + "02" * 26]
    found = evidence_ids([lake("x")._replace(digest=digest) for digest in digests])
    assert found == [f"lake:{'ab' * 6}:0", f"lake:{'ab' * 6}0:0", f"lake:{'ab' * 6}02:0"]


def test_the_same_thing_asked_for_again_has_an_id_of_its_own() -> None:
    found = evidence_ids([lake("x"), lake("x", "copy.md"), lake("x")])
    assert len(set(found)) == 3
    assert found == evidence_ids([lake("x"), lake("x", "copy.md"), lake("x")])


def test_other_parts_of_the_same_source_share_the_prefix() -> None:
    one = result(table(3))
    found = evidence_ids([one, one._replace(part="1")])
    assert [name.rpartition(":")[0] for name in found] == [found[0][:-2]] * 2
