"""The judge is an extra: without its packages the others do their work."""

import importlib.util
from importlib.machinery import ModuleSpec

import pytest

from evidentia import judges
from evidentia.errors import InputError
from evidentia.judges import JUDGES, available_judges, make_judges
from evidentia.workspace.evaluating import known_judges
from trained import needs_model

FOUND = importlib.util.find_spec


@pytest.fixture(params=["onnxruntime", "tokenizers"])
def _missing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> ModuleSpec | None:
        return None if name == request.param else FOUND(name)

    monkeypatch.setattr(judges, "find_spec", find_spec)


@needs_model
def test_where_all_is_installed_all_judges_are_asked() -> None:
    assert available_judges() == list(JUDGES) == ["quote", "numbers", "nli"]


@pytest.mark.usefixtures("_missing")
def test_without_its_packages_the_others_are_asked() -> None:
    assert available_judges() == ["quote", "numbers"]
    assert [judge.name for judge in make_judges()] == ["quote", "numbers"]
    assert [judge.name for judge in make_judges(["numbers"])] == ["numbers"]


@needs_model
@pytest.mark.usefixtures("_missing")
def test_who_names_it_without_its_packages_is_told_what_to_install() -> None:
    message = r"the nli judge is not installed: pip install 'evidentia\[judge\]'"
    with pytest.raises(InputError, match=message):
        make_judges(["quote", "nli"])
    problems = {judge.name: judge.problem for judge in known_judges()}
    assert problems == {
        "quote": None,
        "numbers": None,
        "nli": "the nli judge is not installed: pip install 'evidentia[judge]'",
    }


def test_without_its_weights_the_others_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "has_weights", lambda: False)
    assert available_judges() == ["quote", "numbers"]
    with pytest.raises(InputError, match="this version of the package has no weights for it"):
        make_judges(["nli"])
