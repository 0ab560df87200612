"""The programs that sign with key services, against stand-ins that speak their protocols."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from evidentia.errors import EnvironmentProblem
from evidentia.verifying import verify
from places import Place, record
from web_server import Answer, serving

_PROGRAMS = Path(__file__).parents[2] / "examples" / "keys"
_KEY = Ed25519PrivateKey.from_private_bytes(bytes([7]) * 32)
_MOST = 4_096


def vault(path: str, sent: bytes) -> Answer:
    """Answer as Vault's transit engine does."""
    assert path == "/v1/transit/sign/evidentia"
    signature = _KEY.sign(base64.b64decode(json.loads(sent)["input"]))
    said = {"data": {"signature": f"vault:v1:{base64.b64encode(signature).decode()}"}}
    return 200, {"content-type": "application/json"}, json.dumps(said).encode()


def aws(_: str, sent: bytes) -> Answer:
    """Answer as AWS KMS does, by the protocol that boto3 speaks."""
    asked: dict[str, Any] = json.loads(sent)
    named = asked["KeyId"], asked["MessageType"], asked["SigningAlgorithm"]
    assert named == ("alias/evidentia", "RAW", "ED25519_SHA_512")
    message = base64.b64decode(asked["Message"])
    headers = {"content-type": "application/x-amz-json-1.1"}
    if len(message) > _MOST:
        refused = {"__type": "ValidationException", "message": "message too long"}
        return 400, headers, json.dumps(refused).encode()
    signature = base64.b64encode(_KEY.sign(message)).decode()
    return 200, headers, json.dumps({"Signature": signature}).encode()


@pytest.mark.parametrize(
    ("program", "argument", "service"),
    [("vault.py", "transit/sign/evidentia", vault), ("aws_kms.py", "alias/evidentia", aws)],
)
def test_a_log_is_signed_by_a_key_service(
    sqlite_place: Place,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    argument: str,
    service: Any,
) -> None:
    command = [sys.executable, str(_PROGRAMS / program), argument]
    public = _KEY.public_key().public_bytes_raw().hex()
    with serving(service) as url:
        said = {"VAULT_ADDR": url, "VAULT_TOKEN": "t", "AWS_ENDPOINT_URL": url}
        said |= {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
        for name, value in (said | {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "x"}).items():
            monkeypatch.setenv(name, value)
        workspace = sqlite_place.open()
        key = workspace.trail.use_command(public, command)
        workspace.append(record(1))
        proof = json.dumps(workspace.prove(1).as_json()).encode()
        assert verify(proof, key=key).holds
        assert not list(sqlite_place.home.folder.rglob("*.pem"))
    with pytest.raises(EnvironmentProblem, match=rf"the signer command .*{program} .* ended with"):
        workspace.append(record(2))
