"""Remembered answers: files by a digest that may be lost, and are then asked for again."""

import logging
from pathlib import Path

import pytest

from evidentia.store.answers import MAX_BYTES, RememberedAnswers

NAME = "ab" * 32


def test_an_answer_is_remembered_for_its_owner_alone(tmp_path: Path) -> None:
    answers = RememberedAnswers(tmp_path / "answers" / "acme")
    assert answers.get(NAME) is None
    answers.put(NAME, b"yes")
    assert RememberedAnswers(tmp_path / "answers" / "acme").get(NAME) == b"yes"
    (file,) = (tmp_path / "answers").rglob("*.json")
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0


def test_what_is_too_large_is_neither_remembered_nor_read(tmp_path: Path) -> None:
    answers = RememberedAnswers(tmp_path)
    answers.put(NAME, b"x" * (MAX_BYTES + 1))
    assert list(tmp_path.iterdir()) == []
    answers.put(NAME, b"x")
    (file,) = tmp_path.rglob("*.json")
    file.write_bytes(b"x" * (MAX_BYTES + 1))
    assert answers.get(NAME) is None


def test_where_nothing_can_be_written_it_says_so_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "answers").write_text("a file")
    caplog.set_level(logging.WARNING)
    RememberedAnswers(tmp_path / "answers").put(NAME, b"yes")
    assert "answer_not_remembered" in caplog.text


def test_a_name_is_a_digest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="remembered by a digest"):
        RememberedAnswers(tmp_path).get("../../etc/passwd")
