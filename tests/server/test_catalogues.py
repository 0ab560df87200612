"""The viewer's texts in Arabic: all of them, and each with the same places to fill."""

import re
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from scripts.catalogues import (
    brought_up_to_date,
    compiled,
    extracted,
    folder,
    untranslated,
    written,
)

from evidentia.server.translating import words

FRESH = extracted("ar")
PLACE = re.compile(r"%\((\w+)\)(.)|%(.)")
LONG_WORD = re.compile(r"[A-Za-z]{4,}")
NOT_TRANSLATED = {"English", "Evidentia"}


def kept(name: str) -> Catalog:
    with (folder("ar") / f"{name}.po").open("rb") as file:
        return read_po(file, locale="ar")


def forms(message: Message) -> tuple[str, ...]:
    found: Any = message.string
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", FRESH)
def test_a_catalogue_has_every_text_of_its_page_in_arabic(name: str) -> None:
    """Else: run scripts/catalogues.py, and translate what it names."""
    fresh = brought_up_to_date(name, "ar", FRESH[name])
    assert [one.id for one in untranslated(fresh)] == []
    assert (folder("ar") / f"{name}.po").read_bytes() == written(fresh)
    assert (folder("ar") / f"{name}.mo").read_bytes() == compiled(fresh)


@pytest.mark.parametrize("name", FRESH)
def test_a_translation_has_the_places_to_fill_of_its_text(name: str) -> None:
    """A text with another place would fall back to English, and no one would see why."""
    for message in kept(name):
        if not message.id:
            continue
        texts = (message.id,) if isinstance(message.id, str) else message.id
        places = [PLACE.findall(one) for one in texts]
        found = [PLACE.findall(one) for one in forms(message)]
        if isinstance(message.id, tuple):
            assert len(found) == 6, message.id
            for one in found:  # one and two may be said by a word
                assert set(one) <= set(places[1]), message.id
            assert all(set(one) == set(places[1]) for one in found[3:]), message.id
        else:
            assert sorted(found[0]) == sorted(places[0]), message.id


def test_a_text_in_two_catalogues_is_said_alike() -> None:
    seen: dict[tuple[str, str | None], tuple[str, ...]] = {}
    for name in FRESH:
        for message in kept(name):
            if message.id:
                key = str(message.id), message.context
                assert seen.setdefault(key, forms(message)) == forms(message), (name, message.id)


def test_no_translation_is_english() -> None:
    for name in FRESH:
        for message in kept(name):
            if message.id and message.id not in NOT_TRANSLATED:
                assert message.id not in forms(message), (name, message.id)


def test_all_catalogues_are_asked() -> None:
    arabic = words("ar")
    assert arabic.gettext("Supported") == "مؤيَّد"
    assert arabic.gettext("Check an answer") == "فحص إجابة"
    assert arabic.gettext("no text of ours") == "no text of ours"
