"""Verbs: the forms they take, and which of them mean one thing."""

import re
from typing import Final

from evidentia.language.lexicon import word_set

_REGULAR: Final = """
    accept activate add adjust allocate allow analyse analyze append apply approve archive assign
    attach authorise authorize backup ban block book browse calculate call cancel change charge
    check clear clone close collect comment compare complete configure confirm connect contact
    convert copy create credit deactivate debit decline delete deliver deploy detach disable
    disconnect dismiss download draft drop duplicate edit email enable encrypt enrich escalate
    execute export fail fetch file flag format forward generate grant import increase decrease
    index insert install invite invoice invoke issue label launch list load lock log look mark
    merge message migrate modify monitor move note notify open order patch pause place post
    prepare process promote provision publish purchase purge push query queue raise record
    refresh refund register reject release reload remind remove rename renew reopen replace reply
    report request reschedule reserve resolve restart restore resume retrieve retry return revert
    review revoke roll rotate save scale scan schedule score search select settle share ship sign
    skip start stop store submit subscribe suspend switch sync tag terminate test track transfer
    translate trigger truncate try turn uninstall unlock unsubscribe update upgrade upload
    validate verify view void wait waive wipe
"""
_IRREGULAR: Final = """
    begin began begun/bring brought brought/build built built/buy bought bought/choose chose chosen
    cut cut cut/draw drew drawn/find found found/forget forgot forgotten/get got gotten
    get got got/give gave given/hide hid hidden/hold held held/keep kept kept
    leave left left/lend lent lent/make made made/overwrite overwrote overwritten/pay paid paid
    put put put/read read read/rebuild rebuilt rebuilt/resend resent resent/reset reset reset
    rerun reran rerun/run ran run/see saw seen/sell sold sold/send sent sent/set set set
    shut shut shut/spend spent spent/submit submitted submitted/take took taken/tell told told
    undo undid undone/withdraw withdrew withdrawn/withhold withheld withheld/write wrote written
    rewrite rewrote rewritten/split split split/freeze froze frozen/unfreeze unfroze unfrozen
"""
ALSO_NOUNS: Final = word_set(
    "backup book call cancel change charge check comment contact copy credit cut debit draft drop "
    "email export file flag format import increase decrease index invoice issue label list load "
    "lock log look mark message note order patch pause place post process purchase query queue "
    "raise record refund release reply report request return review roll run scale scan schedule "
    "score search share ship sign start stop store switch tag test track transfer trigger turn "
    "upgrade upload download view void wait hold rerun split"
)
"""Verbs that are nouns too: their -s form may be a plural, and after "and" they may be things."""
_OBTAINED: Final = word_set(
    "access approval approvals authorisation authorization authority clearance confirmation back "
    "consent feedback help payment payments permission permissions sign-off signature signatures "
    "money rid"
)
"""What one gets without reading anything."""
SYNONYMS: Final = (
    (word_set("get retrieve fetch read") | {"look up"}, _OBTAINED),
    (word_set("create add"), word_set("to into onto")),
    (word_set("update modify edit"), word_set("on about")),
    (word_set("delete remove"), word_set("from off")),
)
"""Verbs that mean one thing, unless one of the words beside them comes after: to remove a contact
from a list is not to delete it."""
NEAR: Final = (
    word_set("get retrieve fetch read list search find query view see select browse load check")
    | {"look up"},
    word_set("send email message notify forward deliver post submit publish share resend"),
    word_set("update modify edit change set adjust patch replace save write"),
    word_set("create add make insert generate build write register append save prepare"),
    word_set("delete remove drop clear wipe purge truncate"),
    word_set("run execute invoke trigger launch start process"),
    word_set("cancel void terminate stop revoke"),
    word_set("buy purchase order"),
    word_set("grant give allow"),
    word_set("transfer move"),
)
"""Verbs that may mean one thing: no rule can tell."""


def regular_forms(verb: str) -> tuple[str, str, str]:
    """Return the -s form, the -ing form and the past of a regular verb (spelt as they may be)."""
    vowel_before = len(verb) > 1 and verb[-2] in "aeiou"
    if verb.endswith("y") and not vowel_before:
        return f"{verb[:-1]}ies", f"{verb}ing", f"{verb[:-1]}ied"
    third = f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh")) else f"{verb}s"
    if verb.endswith("e"):
        return third, f"{verb if verb.endswith('ee') else verb[:-1]}ing", f"{verb}d"
    doubled = verb + verb[-1]
    if not re.search(r"[^aeiou][aeiou][^aeiouwxy]$", verb):
        doubled = verb
    return third, f"{doubled}ing", f"{doubled}ed"


def done_forms(verb: str) -> set[str]:
    """Return the -ing forms and pasts of a regular verb."""
    _, *found = regular_forms(verb)
    if len(re.findall("[aeiouy]+", verb)) > 1:
        found += [f"{verb}ing", f"{verb}ed"] if verb[-1] not in "ey" else []
    return set(found)


LEMMAS: Final = {"look up": "look up"}
"""Every form that is known, and its verb."""
DONE: Final = set[str]()
"""The forms that tell of something done or being done."""

for _verb in _REGULAR.split():
    LEMMAS.update(dict.fromkeys((_verb, regular_forms(_verb)[0], *done_forms(_verb)), _verb))
    DONE.update(done_forms(_verb))
for _line in re.split(r"/|\n", _IRREGULAR.strip()):
    _verb, *_pasts = _line.split()
    LEMMAS.update(dict.fromkeys((_verb, *regular_forms(_verb)[:2], *_pasts), _verb))
    DONE.update((*_pasts, regular_forms(_verb)[1]))


def is_inflected(base: str, form: str) -> bool:
    """Whether one is a form of the other, a regular verb that is in no table."""
    known = base in LEMMAS or form in LEMMAS or len(base) < len("test")
    return not known and base.isascii() and form in done_forms(base)
