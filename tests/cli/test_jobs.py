"""`evidentia jobs`: long work is listed, shown and cancelled, also while no server runs."""

import json
from pathlib import Path

import evidentia as ev
from cli_running import Cli
from evidentia.store.sql import jobs as rows


def test_where_there_is_no_job_it_says_who_takes_them(cli: Cli, folder: Path) -> None:
    assert "there is no workspace yet" in cli("jobs").err
    ev.open(folder / ".evidentia").close()
    assert cli("jobs").out.startswith("There is no job yet. 'evidentia serve' takes them")
    assert cli("jobs", "--json").json == {"jobs": []}
    missing = cli("jobs", "show", "job_0")
    assert (missing.code, "there is no job 'job_0'" in missing.err) == (2, True)


def test_jobs_are_listed_shown_and_cancelled_while_no_server_runs(cli: Cli, folder: Path) -> None:
    with ev.open(folder / ".evidentia") as workspace:
        waits, fails, runs = (workspace.jobs.start("audit", {"quick": True}) for _ in range(3))
        problem = json.dumps({"error": "AccessError", "detail": "ann may not audit"})
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            rows.change(connection, fails.row, rows.Change(state="failed", problem=problem), "t")
            rows.change(connection, runs.row, rows.Change(state="running"), "t")
    listed = cli("jobs", "--json").json["jobs"]
    assert [one["id"] for one in listed] == [runs.id, fails.id, waits.id]
    assert [one["id"] for one in cli("jobs", "--state", "failed", "--json").json["jobs"]] == [
        fails.id
    ]
    assert all(one.id in cli("jobs").out for one in (waits, fails, runs))
    assert "ann may not audit" in cli("jobs", "show", fails.id).out
    assert cli("jobs", "cancel", waits.id).out == f"✓ Job {waits.id} is cancelled.\n"
    assert cli("jobs", "cancel", waits.id, "--json").json["state"] == "cancelled"
    assert "had ended already: it is failed" in cli("jobs", "cancel", fails.id).out
    assert "ends before its next step" in cli("jobs", "cancel", runs.id).out
    assert "running (to be cancelled)" in cli("jobs", "show", runs.id).out
