import json

import pytest

from evidentia.export.forms import Form, export_ledger
from evidentia.ledger.model import Verdict
from export.sessions import every_verdict


def test_each_form_is_written_by_its_name() -> None:
    session = every_verdict().model_copy(update={"program": "evidentia 1.2.3"})
    assert export_ledger(session, "markdown").startswith("## Evidence Ledger\n")
    assert json.loads(export_ledger(session, Form.JSON))["ledger_id"] == session.ledger.id
    driver = json.loads(export_ledger(session, "sarif"))["runs"][0]["tool"]["driver"]
    assert driver["version"] == "1.2.3"
    assert 'failures="3"' in export_ledger(session, "junit")
    assert 'failures="1"' in export_ledger(session, "junit", fail_on=[Verdict.WEAK])


def test_a_form_that_is_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="'pdf' is not a valid Form"):
        export_ledger(every_verdict(), "pdf")
