from ag_ui.core import CustomEvent, EventType
from hypothesis import given

from evidentia.sources.model import SourceItem
from evidentia.sources.wire import ag_ui_event
from sources.wire.made_sources import LISTS, WEB


@given(LISTS)
def test_it_is_a_custom_event_of_the_protocol(sources: list[SourceItem]) -> None:
    event = ag_ui_event(sources)
    read = CustomEvent.model_validate(event, strict=False)
    assert read.type is EventType.CUSTOM
    assert not read.model_extra
    assert read.model_dump(mode="json", by_alias=True) == event


def test_it_names_what_it_carries() -> None:
    event = ag_ui_event([WEB])
    assert event["name"] == "rag.sources"
    assert [source["source_id"] for source in event["value"]["sources"]] == ["policy-1"]
