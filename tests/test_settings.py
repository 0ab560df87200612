from pathlib import Path

import pytest

from evidentia.errors import SettingsError
from evidentia.settings import Settings


def test_defaults_need_no_environment() -> None:
    assert Settings.from_environment({}) == Settings(Path(".evidentia"), None, "default")


def test_every_setting_is_read() -> None:
    found = Settings.from_environment(
        {
            "EVIDENTIA_HOME": "/data",
            "EVIDENTIA_DATABASE_URL": "postgresql://h/d",
            "EVIDENTIA_TENANT": "acme",
            "EVIDENTIA_LOG_LEVEL": "DEBUG",
            "EVIDENTIA_LOG_FORMAT": "json",
            "EVIDENTIA_OUTDATED_AFTER_DAYS": "90",
            "OTHER": "ignored",
        }
    )
    assert found == Settings(Path("/data"), "postgresql://h/d", "acme", "debug", "json", 90)


def test_a_lake_is_a_folder_or_a_bucket() -> None:
    for address in ("/data/lake", "s3://bucket", "gs://my.bucket/a/b", "az://container/prefix/"):
        assert Settings.from_environment({"EVIDENTIA_LAKE": address}).lake == address
    assert Settings.from_environment({"EVIDENTIA_LAKE": ""}).lake is None
    wrongs = ("http://bucket/a", "s3://", "s3://bucket//a", "s3:///a", "s3:/bucket", "s3//bucket")
    for wrong in wrongs:
        with pytest.raises(SettingsError, match=r"EVIDENTIA_LAKE is .* such as s3://bucket/prefix"):
            Settings.from_environment({"EVIDENTIA_LAKE": wrong})


def test_a_database_is_named_by_a_url_and_what_is_none_is_not_shown() -> None:
    for name in ("DATABASE_URL", "DATABASE_READ_URL"):
        for wrong in ("app:s3cr3t@host/name", "postgresql:/app:s3cr3t@host/name", "/a/folder"):
            with pytest.raises(
                SettingsError, match=f"EVIDENTIA_{name} is no URL: write"
            ) as refused:
                Settings.from_environment({f"EVIDENTIA_{name}": wrong})
            assert "s3cr3t" not in str(refused.value)
    found = Settings.from_environment({"EVIDENTIA_DATABASE_URL": "postgresql://a:s3cr3t@h/d"})
    assert "s3cr3t" not in repr(found)


def test_a_secret_in_an_address_is_not_shown() -> None:
    for name, wrong in (
        ("LAKE", "s3://KEY:s3/cr3t@bucket/prefix"),
        ("CHECKPOINTS", "s3://KEY:s3/cr3t@bucket"),
        ("KEYS", "https://u:s3/cr3t@vault"),
        ("RAY", "ray://u:s3/cr3t@host:1"),
        ("SERVER_URL", "https://u:s3/cr3t@host"),
        ("OTEL_ENDPOINT", "https://u:s3/cr3t@host:4318"),
    ):
        with pytest.raises(
            SettingsError, match=rf"EVIDENTIA_{name} is '[a-z0-9]+://\*\*\*@"
        ) as bad:
            Settings.from_environment({f"EVIDENTIA_{name}": wrong})
        assert "cr3t" not in str(bad.value)


def test_how_postgresql_is_connected_to_is_read_and_handed_down() -> None:
    found = Settings.from_environment(
        {
            "EVIDENTIA_DATABASE_CONNECTIONS": "50",
            "EVIDENTIA_DATABASE_CONNECT_SECONDS": "3",
            "EVIDENTIA_DATABASE_LOCK_SECONDS": "5",
            "EVIDENTIA_DATABASE_STATEMENT_SECONDS": "20",
            "EVIDENTIA_DATABASE_READ_URL": "postgresql://reader:s3cr3t@h/d",
        }
    )
    fields = {
        "connections": 50,
        "connect_seconds": 3,
        "lock_seconds": 5,
        "statement_seconds": 20,
        "read_url": "postgresql://reader:s3cr3t@h/d",
    }
    assert found.server_fields(hurried=True) == fields
    assert found.server_fields(hurried=False) == fields | {"statement_seconds": 0}
    assert "s3cr3t" not in repr(found)
    for name, wrong in (("CONNECTIONS", "9"), ("LOCK_SECONDS", "0"), ("STATEMENT_SECONDS", "x")):
        with pytest.raises(SettingsError, match=f"EVIDENTIA_DATABASE_{name} is '{wrong}'"):
            Settings.from_environment({f"EVIDENTIA_DATABASE_{name}": wrong})


def test_keys_are_in_a_folder_or_a_token_and_never_in_a_bucket() -> None:
    token = "pkcs11:token=a?module-path=/x.so&pin-source=file:///run/pin"
    for address in ("/data/keys", token):
        assert Settings.from_environment({"EVIDENTIA_KEYS": address}).keys == address
    assert Settings.from_environment({"EVIDENTIA_KEYS": ""}).keys is None
    for wrong in ("s3://bucket/keys", "PKCS11:token=a?module-path=/x.so", "pkcs:token=a"):
        with pytest.raises(SettingsError, match=r"EVIDENTIA_KEYS is .* no place for private keys"):
            Settings.from_environment({"EVIDENTIA_KEYS": wrong})
    with pytest.raises(SettingsError, match="EVIDENTIA_KEYS has pin-value") as refused:
        Settings.from_environment({"EVIDENTIA_KEYS": "pkcs11:token=a?pin-value=2468"})
    assert "2468" not in str(refused.value)


def test_checkpoints_follow_to_a_bucket() -> None:
    found = Settings.from_environment({"EVIDENTIA_CHECKPOINTS": "s3://bucket/prefix"})
    assert found.checkpoints == "s3://bucket/prefix"
    with pytest.raises(SettingsError, match=r"EVIDENTIA_CHECKPOINTS is '/data': it must be a buck"):
        Settings.from_environment({"EVIDENTIA_CHECKPOINTS": "/data"})


def test_empty_value_means_the_default() -> None:
    assert Settings.from_environment({"EVIDENTIA_TENANT": "", "EVIDENTIA_HOME": ""}) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("EVIDENTIA_HOEM", "x", "did you mean EVIDENTIA_HOME?"),
        ("EVIDENTIA_XYZZY", "x", "unset it"),
        ("EVIDENTIA_LOG_LEVEL", "loud", "one of debug, info, warning, error"),
        ("EVIDENTIA_LOG_FORMAT", "xml", "one of text, json"),
        ("EVIDENTIA_OUTDATED_AFTER_DAYS", "soon", "it must be a number of days, 0 to 1,000,000"),
        ("EVIDENTIA_OUTDATED_AFTER_DAYS", "-1", "a number of days"),
        ("EVIDENTIA_OUTDATED_AFTER_DAYS", "1000001", "a number of days"),
    ],
)
def test_what_is_not_a_setting_is_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        Settings.from_environment({name: value})
    assert says in str(caught.value)


def test_where_openfga_is_and_what_is_asked_there_are_read() -> None:
    given = {
        "EVIDENTIA_OPENFGA_URL": "https://openfga:8080",
        "EVIDENTIA_OPENFGA_STORE_ID": "01STBB00000000000000000001",
        "EVIDENTIA_OPENFGA_MODEL_ID": "01STBB00000000000000000002",
        "EVIDENTIA_OPENFGA_TOKEN_FILE": "/run/secrets/openfga",
        "EVIDENTIA_OPENFGA_TIMEOUT_SECONDS": "5",
    }
    found = Settings.from_environment(given)
    assert found.openfga_token_file == Path("/run/secrets/openfga")
    assert found.openfga_fields() == {
        "url": "https://openfga:8080",
        "store_id": "01STBB00000000000000000001",
        "model_id": "01STBB00000000000000000002",
        "seconds": 5.0,
    }
    for name in ("STORE_ID", "MODEL_ID"):
        without = {**given, f"EVIDENTIA_OPENFGA_{name}": ""}
        with pytest.raises(SettingsError, match=f"EVIDENTIA_OPENFGA_{name} is not set: 'evidenti"):
            Settings.from_environment(without).openfga_fields()
    with pytest.raises(SettingsError, match="and EVIDENTIA_OPENFGA_URL is not: set both"):
        Settings.from_environment({**given, "EVIDENTIA_OPENFGA_URL": ""})
    with pytest.raises(SettingsError, match="it must be a number of seconds, 1 to 60"):
        Settings.from_environment({**given, "EVIDENTIA_OPENFGA_TIMEOUT_SECONDS": "0"})


def test_a_passphrase_is_read_and_not_shown() -> None:
    found = Settings.from_environment({"EVIDENTIA_KEY_PASSPHRASE": "seven plain words"})
    assert found.key_passphrase == "seven plain words"
    assert "seven" not in repr(found)


def test_a_passphrase_has_one_place() -> None:
    file = Settings.from_environment({"EVIDENTIA_KEY_PASSPHRASE_FILE": "/run/secrets/key"})
    assert file.key_passphrase_file == Path("/run/secrets/key")
    both = {"EVIDENTIA_KEY_PASSPHRASE": "seven words", "EVIDENTIA_KEY_PASSPHRASE_FILE": "key"}
    with pytest.raises(SettingsError, match="are both set: unset one") as caught:
        Settings.from_environment(both)
    assert "seven" not in str(caught.value)


def test_a_model_and_how_judges_vote_are_read() -> None:
    found = Settings.from_environment(
        {
            "EVIDENTIA_SECOND_OPINION": "always",
            "EVIDENTIA_DECIDES": "cautious",
            "EVIDENTIA_DOUBT": "0-1",
            "EVIDENTIA_LLM_URL": "http://localhost/v1",
            "EVIDENTIA_LLM_MODEL": "m",
            "EVIDENTIA_LLM_API": "anthropic",
            "EVIDENTIA_LLM_KEY_VARIABLE": "MODEL_KEY",
            "EVIDENTIA_LLM_INPUT_PRICE": "0.1",
            "EVIDENTIA_LLM_OUTPUT_PRICE": "0.2",
            "EVIDENTIA_LLM_CURRENCY": "EUR",
            "EVIDENTIA_LLM_TIMEOUT_SECONDS": "5",
            "EVIDENTIA_LLM_ATTEMPTS": "2",
            "EVIDENTIA_LLM_CLAIMS_AT_ONCE": "3",
            "EVIDENTIA_LLM_EVIDENCE_BYTES": "9000",
        }
    )
    assert (found.second_opinion, found.decides, found.doubt) == ("always", "cautious", "0-1")
    assert (found.llm_url, found.llm_model, found.llm_api) == (
        "http://localhost/v1",
        "m",
        "anthropic",
    )
    assert (found.llm_input_price, found.llm_output_price, found.llm_currency) == (
        "0.1",
        "0.2",
        "EUR",
    )
    assert (found.llm_timeout_seconds, found.llm_attempts) == (5, 2)
    assert (found.llm_claims_at_once, found.llm_evidence_bytes) == (3, 9_000)
    assert found.llm_key({"MODEL_KEY": "k"}) == "k"
    with pytest.raises(SettingsError, match="names MODEL_KEY, which is not set"):
        found.llm_key({})
    assert Settings().llm_key({"MODEL_KEY": "k"}) is None


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("EVIDENTIA_DOUBT", "0.9-0.1", "it must be two probabilities, as 0.15-0.85"),
        ("EVIDENTIA_DOUBT", "often", "two probabilities"),
        ("EVIDENTIA_DECIDES", "first", "one of last, cautious, majority"),
        ("EVIDENTIA_SECOND_OPINION", "never", "one of in_doubt, always"),
        ("EVIDENTIA_LLM_API", "soap", "one of openai, anthropic"),
        ("EVIDENTIA_LLM_ATTEMPTS", "0", "it must be a number, 1 to 10"),
        ("EVIDENTIA_LLM_TIMEOUT_SECONDS", "9" * 30, "a number of seconds, 1 to 3,600"),
    ],
)
def test_wrong_values_of_a_models_settings_are_refused(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        Settings.from_environment({name: value})
    assert says in str(caught.value)


def test_a_key_in_place_of_its_variables_name_is_not_shown() -> None:
    with pytest.raises(SettingsError, match="is no name of a variable") as caught:
        Settings.from_environment({"EVIDENTIA_LLM_KEY_VARIABLE": "sk-hunter2"})
    assert "hunter2" not in str(caught.value)
    both = {"EVIDENTIA_LLM_KEY_VARIABLE": "K", "EVIDENTIA_LLM_KEY_FILE": "key"}
    with pytest.raises(SettingsError, match="are both set: unset one"):
        Settings.from_environment(both)
