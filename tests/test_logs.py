import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from evidentia.logs import configure, get_logger
from library_logging import unconfigured_logging


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    with unconfigured_logging():
        yield


def test_events_reach_an_applications_own_logging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        get_logger("some.module").info("entry_appended", seq=7, subject="a b")
    record = caplog.records[0]
    assert record.name == "evidentia.some.module"
    assert record.levelname == "INFO"
    assert record.getMessage() == 'event=entry_appended seq=7 subject="a b"'


def test_events_below_the_level_are_dropped(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        logger = get_logger("quiet")
        logger.info("not_heard")
        logger.warning("heard")
    assert [record.getMessage() for record in caplog.records] == ["event=heard"]


def test_an_event_that_nobody_hears_is_not_rendered(caplog: pytest.LogCaptureFixture) -> None:
    rendered = []

    class Costly:
        def __str__(self) -> str:
            rendered.append(self)
            return "costly"

    with caplog.at_level(logging.WARNING):
        get_logger("quiet").info("not_heard", value=Costly())
    assert rendered == []


def test_text_goes_to_standard_error_with_its_level(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", "text")
    get_logger("x").info("entry_appended", seq=7)
    get_logger("x").debug("too_fine")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "INFO event=entry_appended seq=7\n"


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure("debug", "json")
    get_logger("x").warning("evidence_skipped", detail="two\nlines", obligation_id="ob-1")
    get_logger("x").error("failed")
    lines = capsys.readouterr().err.splitlines()
    first: dict[str, Any] = json.loads(lines[0])
    assert len(lines) == 2
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "event": "evidence_skipped",
        "detail": "two\nlines",
        "obligation_id": "ob-1",
        "level": "warning",
    }
    assert json.loads(lines[1])["level"] == "error"


def test_a_value_cannot_begin_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    configure("warning", "text")
    get_logger("x").warning("evidence_skipped", detail="first\nERROR event=forged")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_configuring_again_replaces_what_was_configured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logger = get_logger("x")
    configure("error", "json")
    configure("warning", "text")
    logger.warning("once", percent="100%s")
    assert capsys.readouterr().err == "WARNING event=once percent=100%s\n"


def test_without_a_warning_nothing_is_printed() -> None:
    script = (
        "from evidentia.logs import get_logger\n"
        "get_logger('x').info('quiet')\n"
        "import evidentia.trail.record\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
