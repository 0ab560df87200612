from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from evidentia.export.junit import to_junit
from evidentia.ledger.model import Verdict
from export.sessions import every_verdict, hostile_session, leave_session, weak_session

GATE = frozenset({Verdict.CONTRADICTED, Verdict.NOT_FOUND})


def test_each_claim_is_a_test_and_fails_by_its_verdict() -> None:
    suite = ET.fromstring(to_junit(leave_session(), GATE).encode()).find("testsuite")
    assert suite is not None
    assert suite.attrib == {
        "name": "Leave Policy Q&A",
        "tests": "4",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
        "timestamp": "2026-01-03T14:30:00Z",
    }
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [
        "1. Employees are entitled to 15 days of annual leave",
        "2. Leave requests must be submitted 2 weeks in advance",
        "3. Unused leave can be carried forward to next year",
        "4. Maximum carryover is 5 days",
    ]
    assert cases[0].get("classname") == "claims.policy"
    assert [len(case) for case in cases] == [0, 0, 0, 1]
    failure = cases[3].find("failure")
    assert failure is not None
    assert failure.attrib == {"type": "not_found", "message": "Not Found: -"}
    assert failure.text == "Why."


def test_what_could_not_be_judged_is_skipped_unless_it_is_to_fail() -> None:
    def outcome(fail_on: frozenset[Verdict]) -> tuple[str | None, str | None, list[str]]:
        suite = ET.fromstring(to_junit(every_verdict(), fail_on).encode()).find("testsuite")
        assert suite is not None
        tags = [child.tag for case in suite.findall("testcase") for child in case]
        return suite.get("failures"), suite.get("skipped"), tags

    assert outcome(frozenset()) == ("0", "1", ["skipped"])
    assert outcome(frozenset(Verdict)) == ("5", "0", ["failure"] * 5)


def test_a_weak_claim_fails_with_why_it_is_weak() -> None:
    root = ET.fromstring(to_junit(weak_session(), {Verdict.WEAK}).encode())
    found = [(one.get("type"), one.get("message")) for one in root.iter("failure")]
    assert found == [
        ("weak", "Weak (probable): HR_Policy.pdf, Page 12"),
        ("weak", "Weak (partial): HR_Policy.pdf, Page 12"),
    ]


@given(st.text(st.characters()))
def test_any_text_gives_well_formed_xml(text: str) -> None:
    for fail_on in (frozenset(Verdict), frozenset[Verdict]()):
        root = ET.fromstring(to_junit(hostile_session(text), fail_on).encode())
        assert len(root.findall("testsuite/testcase")) == 5


HIDDEN = (
    "paid \u202eraey txen\u202c \x1b[2J\u2066\u2067\u2068\u2069\u200b\u200e\u061c\ufeff\x00"
    "\x85\ufffa end"
)


def test_what_turns_or_hides_text_is_written_as_its_code_point() -> None:
    for fail_on in (frozenset(Verdict), frozenset[Verdict]()):
        written = to_junit(hostile_session(HIDDEN), fail_on)
        assert all(letter.isprintable() for letter in written.replace("\n", ""))
        assert "⟨U+202E⟩raey txen⟨U+202C⟩" in written
