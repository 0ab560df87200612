"""The form of a backup in `spec/v1`: page, schema, vector and code agree."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from evidentia.proof.files import read_key
from evidentia.store.backup_places import BackupPlace
from evidentia.store.home import Home
from evidentia.store.sql import copying
from evidentia.trail import backup
from evidentia.workspace import open_workspace
from evidentia.workspace.backups import Target, restore_backup, verify_backup

SPEC = Path(__file__).parents[2] / "spec" / "v1"
SCHEMA: dict[str, Any] = json.loads((SPEC / "backup.schema.json").read_text("utf-8"))
PLACE = SPEC / "vectors" / "backup"
KEY = SPEC / "vectors" / "keys" / "backup-log.pub"
MODELS: dict[str, type[BaseModel]] = {
    "part": backup.BackupPart,
    "column": backup.BackupColumn,
    "table": backup.BackupTable,
    "log": backup.BackupLog,
    "files": backup.BackupFiles,
    "missing": backup.MissingFile,
    "key": backup.KeyFile,
    "tenant": backup.TenantBackup,
}


@pytest.fixture
def place() -> BackupPlace:
    return BackupPlace(str(PLACE))


def test_the_schema_and_the_page_have_the_fields_of_the_code() -> None:
    page = (SPEC / "backup.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    assert set(SCHEMA["properties"]) == set(backup.BackupManifest.model_fields)
    for name, model in MODELS.items():
        assert set(SCHEMA["$defs"][name]["properties"]) == set(model.model_fields), name
        assert set(SCHEMA["$defs"][name]["required"]) == set(model.model_fields), name
        assert named >= set(model.model_fields), name
    kinds = {kind.value for kind in backup.ColumnKind}
    assert set(SCHEMA["$defs"]["column"]["properties"]["kind"]["enum"]) == kinds
    assert named >= kinds


def test_the_vector_fits_the_schema_and_is_written_as_it_is_read(place: BackupPlace) -> None:
    name, manifest = place.manifest()
    data = (PLACE / "backups" / f"{name}.json").read_bytes()
    Draft202012Validator(SCHEMA).validate(json.loads(data))
    assert manifest.encode() == data


@pytest.mark.parametrize(
    "change",
    [{"v": 2}, {"format": "another"}, {"revision": "18"}, {"more": 1}, {"tenants": None}],
)
def test_the_schema_refuses_what_is_no_manifest(place: BackupPlace, change: dict[str, Any]) -> None:
    value = place.manifest()[1].model_dump(mode="json") | change
    assert not Draft202012Validator(SCHEMA).is_valid(value)


def test_a_backup_that_an_earlier_program_made_is_verified_and_restored(
    place: BackupPlace, tmp_path: Path
) -> None:
    """What once was backed up opens for good: the database is made as it was, and upgraded."""
    key = read_key(KEY)
    assert verify_backup(place, trusted=[key]).holds
    target = Target(Home(tmp_path / "home"))
    assert restore_backup(place, target, trusted=[key]).holds
    with open_workspace(target.home.folder, tenant="acme", read_only=True) as workspace:
        assert workspace.trail.size == 5
        assert workspace.trail.entry(1).body is None, "it was erased before"
        assert workspace.audit(keys=[key]).holds


def test_the_tables_of_the_vector_are_those_that_the_code_copies(place: BackupPlace) -> None:
    """A column that is added since is not in it, and has to have a default then."""
    now = {table.name: table for table in copying.copied()}
    for table in place.manifest()[1].tenants[0].tables:
        assert set(table.columns) <= set(now[table.name].columns)
