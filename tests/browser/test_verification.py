"""Verification in a browser comes to what the Python verifier comes to, for all there is."""

import base64
import json
import random
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from browser.loading import PLAIN, serve
from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import CanonicalError
from evidentia.kinds import verify_evidence
from evidentia.proof.keys import SigningKey, TrustedKey
from proofs import KEY, make_proof
from signed_statements import recorded
from tiers import count
from vectors import vector_files

ROOT: Final = Path(__file__).resolve().parents[2]
VECTORS: Final = ROOT / "spec/v1/vectors"
SCRIPTS: Final = ROOT / "src/evidentia/export/html/scripts"
NOBLE: Final = "a4f631d1876b5d9e43a86cd71194ca27b5e1451edf4ba4db9a418f40a475569a"
"""The SHA-256 of `index.js` in @noble/ed25519 3.2.0, as the npm registry has it."""

Case = tuple[bytes, list[str]]
"""The bytes of a file, and the keys that are trusted."""
Outcome = tuple[str, list[tuple[str, bool | None]]]
"""The verdict, and each check with what it came to."""

VERIFY: Final = """async (cases) => {
  const { verifyEvidence } = await import("/verifying.js");
  const { readKey } = await import("/trail.js");
  const { fromBase64 } = await import("/reading.js");
  const found = [];
  for (const [data, keys] of cases) {
    const trusted = await Promise.all(keys.map(readKey));
    const report = await verifyEvidence(fromBase64(data), trusted);
    const told = report.checks.map((one) => [one.name, one.holds, one.unchecked ?? false]);
    found.push([report.verdict, told]);
  }
  return found;
}"""
CANONICAL: Final = """async (texts) => {
  const { parseJson, canonicalText, fromBase64, Refused } = await import("/reading.js");
  return texts.map((text) => {
    try {
      return canonicalText(parseJson(fromBase64(text)));
    } catch (error) {
      if (error instanceof Refused) return null;
      throw error;
    }
  });
}"""


@pytest.fixture(scope="module")
def page(browser: Any) -> Any:
    """Give a page that can load the scripts, where WebCrypto is."""
    opened = browser.new_page()
    serve(opened, SCRIPTS)
    return opened


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def in_browser(page: Any, cases: list[Case]) -> list[tuple[str, list[list[Any]]]]:
    """Return what the browser comes to."""
    given = [[_encoded(data), keys] for data, keys in cases]
    return [(verdict, checks) for verdict, checks in page.evaluate(VERIFY, given)]


def in_python(case: Case) -> Outcome:
    """Return what Python comes to."""
    data, keys = case
    report = verify_evidence(data, [TrustedKey.parse(key) for key in keys])
    return report.verdict.value, [(one.name, one.holds) for one in report.checks]


def differences(page: Any, cases: list[Case]) -> list[str]:
    """Name the cases in which the two come to something else.

    What the browser does not check it must leave undecided, and then it does not say that it holds.
    """
    found = []
    for number, (case, (verdict, checks)) in enumerate(
        zip(cases, in_browser(page, cases), strict=True)
    ):
        expected = in_python(case)
        skipped = {name for name, _, unchecked in checks if unchecked}
        told = [(name, holds) for name, holds, _ in checks if name not in skipped]
        wanted = [one for one in expected[1] if one[0] not in skipped]
        same = told == wanted and (verdict == expected[0] or (skipped and verdict != "holds"))
        if not same:
            found.append(f"case {number}: Python {expected}, browser {(verdict, checks)}")
    return found


def _listed() -> list[tuple[str, Case]]:
    """Return every vector of a file that is verified, good or broken, with and without its key."""
    cases = []
    for name in ("proofs", "packs", "corpora"):
        for vector in json.loads((VECTORS / f"{name}.json").read_text()):
            data = (VECTORS / vector["file"]).read_bytes()
            key = vector.get("key")
            keys = [(VECTORS / key).read_text()] if key else []
            cases += [(vector["file"], (data, keys)), (vector["file"], (data, []))]
    return cases


class TestAgainstPython:
    """The verdict, and what each check came to."""

    def test_every_vector_gives_the_same_verdict(self, page: Any) -> None:
        cases = [case for _, case in _listed()]
        assert len(cases) > 700
        assert differences(page, cases) == []

    def test_nothing_in_the_vectors_is_left_unchecked(self, page: Any) -> None:
        cases = [case for _, case in _listed()]
        left = [one for _, checks in in_browser(page, cases) for one in checks if one[2]]
        assert left == []

    def test_a_changed_file_gives_the_same_verdict(self, page: Any) -> None:
        random_ = random.Random(8785)
        good = [case for name, case in _listed() if "/holds/" in name]
        cases = [_changed(random_.choice(good), random_) for _ in range(count(4_000, short=400))]
        assert differences(page, cases) == []

    def test_a_signed_ledger_that_contradicts_itself_gives_the_same_verdict(
        self, page: Any
    ) -> None:
        cases = list(_ledgers())
        assert len(cases) > 60
        assert differences(page, cases) == []

    def test_several_keys_and_keys_of_all_forms_are_taken_alike(self, page: Any) -> None:
        data = canonical_json(make_proof().as_json())
        public = KEY.verifier.public_key
        other = str(SigningKey.from_seed("evidentia/other/log", bytes([3]) * 32).verifier)
        pem = base64.b64encode(bytes.fromhex("302a300506032b6570032100") + public).decode()
        forms = [
            str(KEY.verifier),
            public.hex(),
            f"-----BEGIN PUBLIC KEY-----\n{pem}\n-----END PUBLIC KEY-----\n",
        ]
        cases = [(data, [form]) for form in forms] + [(data, [other, forms[0]]), (data, [other])]
        assert differences(page, cases) == []
        assert [verdict for verdict, _ in in_browser(page, cases)][:4] == ["holds"] * 4

    def test_without_webcrypto_the_same_comes_out(self, browser: Any) -> None:
        page = browser.new_page()
        serve(page, SCRIPTS, PLAIN)
        assert page.evaluate("() => crypto.subtle === undefined")
        cases = [case for name, case in _listed() if "bundle" not in name][:: count(2, short=14)]
        assert differences(page, cases) == []
        page.close()

    def test_the_fallback_is_the_published_one(self) -> None:
        assert sha256((SCRIPTS / "noble-ed25519.js").read_bytes()).hexdigest() == NOBLE

    def test_the_fallback_is_loaded_only_where_it_is_needed(self, browser: Any) -> None:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        serve(page, SCRIPTS)
        key = str(KEY.verifier)
        found = in_browser(page, [(canonical_json(make_proof().as_json()), [key])])
        assert found[0][0] == "holds"
        assert not any("noble" in url for url in asked)
        page.close()


class TestCanonicalForm:
    """Strict reading, and the one way to write a value (RFC 8785)."""

    def test_the_projects_vectors_are_read_and_refused_alike(self, page: Any) -> None:
        vectors = json.loads((VECTORS / "canonical.json").read_text())
        texts = [one["json"].encode("utf-8", "surrogatepass") for one in vectors["canonical"]]
        found = page.evaluate(CANONICAL, [_encoded(text) for text in texts])
        assert found == [one["bytes"] for one in vectors["canonical"]]
        refused = [_encoded(one["json"].encode()) for one in vectors["refused"]]
        assert page.evaluate(CANONICAL, refused) == [None] * len(refused)

    @pytest.mark.parametrize("path", vector_files("rfc8785/testdata/input/*.json"))
    def test_the_public_vectors_come_out(self, path: Path, page: Any) -> None:
        expected = path.parent.parent / "output" / path.name
        (found,) = page.evaluate(CANONICAL, [_encoded(path.read_bytes())])
        assert found.encode() == expected.read_bytes().removesuffix(b"\n")

    def test_json_that_is_almost_right_is_treated_alike(self, page: Any) -> None:
        texts = [
            b"", b" ", b"\xef\xbb\xbf1", b"01", b"1.", b".5", b"-", b"+1", b"1e5", b"1E+2", b"-0",
            b"-0.0", b"9007199254740992", b"9007199254740993", b"-9007199254740993", b"1e400",
            b"1" + b"0" * 398, b"1" + b"0" * 308, b"1" + b"0" * 309, b"100000000000000000000000",
            b"NaN", b"Infinity", b"-Infinity", b"nul", b"true1", b"[1,]", b'{"a":1,}', b"[,]",
            b'{"a" : 1 , "b":[ ]}', b'"\t"', b'"\x7f"', b'"\\x"', b'"\\u12"', b'"\\ud83d\\ude00"',
            b'"\\ud83d"', b'"\\ude00\\ud83d"', b'{"\\u0061":1,"a":2}', b'"\xff"', b"'a'", b"[1 2]",
            b'{"__proto__":1,"constructor":{"toString":2}}', b'{"10":1,"9":2,"\xc3\xa9":3}',
            b"[" * 100 + b"]" * 100, b"[" * 101 + b"]" * 101, b"\x0c1", b"1\x00", b'"\xe2\x80\xa8"',
            b'{"a":1}{"b":2}', b"[0.1,1e-7,123456789012345680000,5e-324,1.7976931348623157e308]",
        ]  # fmt: skip
        found = page.evaluate(CANONICAL, [_encoded(text) for text in texts])
        assert found == [_python_form(text) for text in texts]


def _python_form(text: bytes) -> str | None:
    try:
        return canonical_json(parse_json(text)).decode()
    except CanonicalError:
        return None


# What is changed


def _changed(case: Case, random_: random.Random) -> Case:
    data, keys = case
    if random_.random() < 0.5:
        at = random_.randrange(len(data))
        piece = bytes([random_.choice(b'0123456789abcdef"{}[],:-+.e\\ \n')])
        cut = random_.choice((0, 1, 1, 1, 3))
        return data[:at] + piece + data[at + cut :], keys
    document = json.loads(data)
    _change(document, random_)
    written = canonical_json(document) + b"\n" if random_.random() < 0.7 else None
    return written or json.dumps(document, ensure_ascii=False).encode(), keys


def _change(document: Any, random_: random.Random) -> None:
    """Change something at a random depth of a document."""
    holder: Any = None
    key: Any = None
    value = document
    for _ in range(random_.randint(1, 6)):
        if isinstance(value, dict) and value:
            holder, key = value, random_.choice(list(value))
        elif isinstance(value, list) and value:
            holder, key = value, random_.randrange(len(value))
        else:
            break
        value = holder[key]
    assert holder is not None
    others = [
        None,
        True,
        0,
        1,
        2,
        3,
        1.0,
        0.5,
        -1,
        "",
        "a",
        "é",
        [],
        {},
        2.0**53,
        [value],
        {"a": value},
    ]
    match random_.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(value, str) and value:
            at = random_.randrange(len(value))
            holder[key] = value[:at] + random_.choice("0aA=f\nة") + value[at + 1 :]
        case 2 if isinstance(holder, dict):
            holder[str(random_.choice(["x", "later", "predicate", "body", "envelope"]))] = value
        case _:
            holder[key] = random_.choice(others)


# Ledgers of which something is wrong, recorded and signed all the same


def _ledgers() -> Iterator[Case]:
    for path in sorted((VECTORS / "ledger").glob("statement*.json")):
        yield _recorded(path.read_bytes(), {})
    for name in ("refused", "refused-third", "refused-contexts"):
        for one in json.loads((VECTORS / f"ledger/{name}.json").read_text()):
            statement = one.get("statement", one.get("json"))
            data = statement.encode() if isinstance(statement, str) else canonical_json(statement)
            yield _recorded(data, {})
            yield _recorded(data, {"session_id": "another"})


def _recorded(payload: bytes, more: dict[str, Any]) -> Case:
    """Return the proof of a ledger's entry, which commits to the library that the ledger names."""
    document = json.loads(payload)
    predicate = document.get("predicate", {}) if isinstance(document, dict) else {}
    if isinstance(predicate, dict) and isinstance(corpus := predicate.get("corpus"), dict):
        more = {**more, "corpus": {name: corpus[name] for name in corpus if name != "nodes"}}
    return recorded(payload, "ledger", "ledger", **more), [str(KEY.verifier)]
