"""What the files of deploy/ say, for the tests that compare it with the program."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml*"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


def manifests() -> list[Any]:
    """Return every object of the Kubernetes manifests."""
    return [one for path in MANIFESTS for one in yaml.safe_load_all(path.read_text("utf-8"))]


def of_kind(*kinds: str) -> list[Any]:
    """Return the objects of these kinds."""
    return [one for one in manifests() if one["kind"] in kinds]


def pods() -> Iterator[tuple[str, Any]]:
    """Give the name and the pod's template of whatever makes pods."""
    for one in of_kind("Deployment", "Job", "CronJob"):
        spec = one["spec"]
        made = spec["jobTemplate"]["spec"] if one["kind"] == "CronJob" else spec
        yield one["metadata"]["name"], made["template"]
    yield from ((one["metadata"]["name"], one) for one in of_kind("Pod"))


def containers() -> Iterator[tuple[str, Any]]:
    """Give every container of the pods by a name: the pod's, and what comes before it, its own."""
    for name, pod in pods():
        yield name, pod["spec"]["containers"][0]
        for one in pod["spec"].get("initContainers", ()):
            yield f"{name}, {one['name']}", one


def compose() -> Any:
    """Return the compose file."""
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def unit(path: Path) -> list[tuple[str, str]]:
    """Return the settings of a systemd unit in their order; a name may come several times."""
    lines = [line for line in path.read_text("utf-8").splitlines() if re.match(r"\w+=", line)]
    return [(name, value) for name, _, value in (line.partition("=") for line in lines)]


def of_unit(path: Path) -> dict[str, str]:
    """Return the variables that a unit sets, with those of the example of its file."""
    example = (DEPLOY / "systemd" / "environment.example").read_text("utf-8")
    found = dict(re.findall(r"^(\w+)=(.*)$", example, re.MULTILINE))
    for name, value in unit(path):
        if name == "Environment":
            found |= dict(one.split("=", 1) for one in value.split())
    return found


def environments() -> dict[str, dict[str, str]]:
    """Return the variables of every place where the program runs, by the place's name."""
    found = {
        f"compose: {name}": one["environment"]
        for name, one in compose()["services"].items()
        if one["image"].startswith("evidentia")
    }
    shared = {one["metadata"]["name"]: one["data"] for one in of_kind("ConfigMap")}
    for name, container in containers():
        said: dict[str, str] = {}
        for one in container.get("envFrom", []):
            said |= shared[one["configMapRef"]["name"]]
        for one in container.get("env", []):
            of = one.get("valueFrom", {}).get("configMapKeyRef")
            said[one["name"]] = shared[of["name"]][of["key"]] if of else one["value"]
        found[f"kubernetes: {name}"] = said
    found |= {f"systemd: {path.name}": of_unit(path) for path in UNITS}
    image = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    variables = " ".join(re.findall(r"^ENV (.+)$", image, re.MULTILINE))
    found["Dockerfile"] = dict(one.split("=", 1) for one in variables.split())
    return found


def commands() -> dict[str, list[str]]:
    """Return what the program is asked to do, by where."""
    found = {
        f"compose: {name}": one["command"]
        for name, one in compose()["services"].items()
        if one["image"].startswith("evidentia") and one.get("command")
    }
    for name, container in containers():
        if "args" in container:  # else it waits for a person
            found[f"kubernetes: {name}"] = container["args"]
    for path in UNITS:
        started = dict(unit(path))["ExecStart"].split()
        found[f"systemd: {path.name}"] = started[2:]
    return found
