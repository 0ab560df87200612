"""The Kubernetes manifests: valid by Kubernetes' own schemas, restricted, and of one piece."""

from typing import Any

import kubernetes_validate
import pytest

import deploying

VERSIONS = ("1.33", "1.37")
"""Of Kubernetes: an older one that is still about, and the newest that the schemas know."""
NAMESPACED = [one for one in deploying.manifests() if one["kind"] != "Namespace"]
PODS = dict(deploying.pods())


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_is_valid(version: str) -> None:
    for one in deploying.manifests():
        kubernetes_validate.validate(one, version, strict=True)


def test_a_wrong_field_is_seen() -> None:
    """What the test above relies on."""
    wrong = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "x"},
        "spec": {"prots": []},
    }
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_everything_is_in_the_namespace_and_has_a_name_of_its_own() -> None:
    namespace = deploying.of_kind("Namespace")[0]["metadata"]
    assert {one["metadata"]["namespace"] for one in NAMESPACED} == {namespace["name"]}
    assert namespace["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    names = [(one["kind"], one["metadata"]["name"]) for one in deploying.manifests()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", PODS)
def test_a_pod_is_held_to_the_restricted_profile(name: str) -> None:
    spec = PODS[name]["spec"]
    pod = spec["securityContext"]
    assert pod["runAsNonRoot"]
    assert pod["runAsUser"] == pod["runAsGroup"] == pod["fsGroup"] == 10001
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["fsGroupChangePolicy"] == "OnRootMismatch"
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    assert spec["automountServiceAccountToken"] is False
    assert spec["serviceAccountName"] == "evidentia"
    assert {"configMap", "emptyDir", "persistentVolumeClaim", "secret"} >= {
        kind for volume in spec["volumes"] for kind in volume if kind != "name"
    }


@pytest.mark.parametrize("name", PODS)
def test_a_pod_writes_to_its_home_and_to_tmp_and_has_limits(name: str) -> None:
    spec = PODS[name]["spec"]
    assert len(spec["containers"]) == 1
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        mounts = {one["mountPath"]: one for one in container["volumeMounts"]}
        writable = {path for path, one in mounts.items() if not one.get("readOnly")}
        assert writable - {"/var/lib/evidentia/search"} == {"/var/lib/evidentia", "/tmp"}
        assert {one["name"] for one in mounts.values()} == {one["name"] for one in spec["volumes"]}
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("name", PODS)
def test_no_variable_comes_from_a_service(name: str) -> None:
    """A service named evidentia would give EVIDENTIA_PORT and such, which are no settings."""
    assert PODS[name]["spec"]["enableServiceLinks"] is False


def test_every_secret_that_is_named_is_in_the_template_and_mounted_where_it_is_looked_for() -> None:
    templates = {one["metadata"]["name"]: one["stringData"] for one in deploying.of_kind("Secret")}
    assert all(value == "replace-me" for keys in templates.values() for value in keys.values())
    for name, pod in PODS.items():
        spec = pod["spec"]
        where = {one["mountPath"]: one["name"] for one in spec["containers"][0]["volumeMounts"]}
        volumes = {one["name"]: one.get("secret", {}).get("secretName") for one in spec["volumes"]}
        for value in deploying.environments()[f"kubernetes: {name}"].values():
            if value.startswith("/run/secrets/"):
                folder, _, key = value.rpartition("/")
                assert key in templates[volumes[where[folder]]], f"{name}: {value}"


def test_applying_the_whole_folder_replaces_no_secret() -> None:
    """`kubectl apply -f` of a folder takes what ends in .yaml, .yml and .json."""
    for path in deploying.MANIFESTS:
        if path.suffix in {".yaml", ".yml", ".json"}:
            assert "kind: Secret" not in path.read_text("utf-8"), path.name


def test_what_only_reads_has_neither_the_application_s_password_nor_a_passphrase() -> None:
    templates = {one["metadata"]["name"]: one["stringData"] for one in deploying.of_kind("Secret")}
    assert set(templates["evidentia-auditor"]) == {
        "database-auditor",
        "objects-key-id",
        "objects-secret",
    }
    reading = {name for name, pod in PODS.items() if "secretName': 'evidentia-auditor'" in str(pod)}
    assert reading == {f"evidentia-{one}" for one in ("audit", "backup", "packs", "verify")}
    for name in reading:
        assert "'secretName': 'evidentia'" not in str(PODS[name])


def test_the_tables_are_made_before_the_rights() -> None:
    spec = PODS["evidentia-tables"]["spec"]
    assert [one["args"] for one in spec["initContainers"]] == [["db", "upgrade"]]
    assert spec["containers"][0]["args"] == ["db", "roles", "--run"]


def test_only_the_job_that_changes_the_tables_has_the_owner_s_password() -> None:
    having = [name for name, pod in PODS.items() if "evidentia-owner" in str(pod)]
    assert having == ["evidentia-tables"]


def test_selectors_find_the_servers_and_nothing_else() -> None:
    labels = {name: pod["metadata"]["labels"] for name, pod in PODS.items()}

    def found(selector: Any) -> set[str]:
        return {name for name, has in labels.items() if selector.items() <= has.items()}

    deployment = deploying.of_kind("Deployment")[0]["spec"]
    service = deploying.of_kind("Service")[0]["spec"]
    disruption = deploying.of_kind("PodDisruptionBudget")[0]["spec"]
    assert found(deployment["selector"]["matchLabels"]) == {"evidentia"}
    assert found(service["selector"]) == {"evidentia"}
    assert found(disruption["selector"]["matchLabels"]) == {"evidentia"}
    policies = {one["metadata"]["name"]: one["spec"] for one in deploying.of_kind("NetworkPolicy")}
    assert policies["nothing"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert found(policies["evidentia"]["podSelector"]["matchLabels"]) == set(labels)
    scaled = deploying.of_kind("HorizontalPodAutoscaler")[0]["spec"]["scaleTargetRef"]
    assert (scaled["kind"], scaled["name"]) == ("Deployment", "evidentia")
    backend = deploying.of_kind("Ingress")[0]["spec"]["rules"][0]["http"]["paths"][0]["backend"]
    assert backend["service"]["name"] == deploying.of_kind("Service")[0]["metadata"]["name"]


def test_a_server_is_asked_whether_it_lives_and_whether_it_can_work() -> None:
    container = PODS["evidentia"]["spec"]["containers"][0]
    asked = {
        name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")
    }
    assert {name: one["path"] for name, one in asked.items()} == {
        "startup": "/healthz",
        "readiness": "/readyz",
        "liveness": "/healthz",
    }
    assert {one["port"] for one in asked.values()} == {container["ports"][0]["name"]}
    assert PODS["evidentia"]["spec"]["terminationGracePeriodSeconds"] > 30 + 5


def test_no_server_is_taken_away_before_another_is_ready() -> None:
    spec = deploying.of_kind("Deployment")[0]["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    scaled = deploying.of_kind("HorizontalPodAutoscaler")[0]["spec"]
    assert scaled["maxReplicas"] > scaled["minReplicas"] > 2
    assert "replicas" not in spec, "applying it would take away servers that the load asked for"


def test_what_removes_something_waits_for_a_person_to_let_it() -> None:
    jobs = {one["metadata"]["name"]: one["spec"] for one in deploying.of_kind("CronJob")}
    assert [name for name, spec in jobs.items() if spec.get("suspend")] == ["evidentia-sweep"]
    assert all(spec["concurrencyPolicy"] == "Forbid" for spec in jobs.values())
