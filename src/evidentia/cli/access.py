"""`evidentia access`: OpenFGA beside the roles in the trail, kept in step with them."""

from typing import Annotated

import typer

from evidentia.cli.options import HomeOption, JsonOption, TenantOption, settings, workspace

app = typer.Typer(rich_markup_mode=None)


@app.command()
def model(
    upload: Annotated[
        bool, typer.Option("--upload", help="Write it to the server of EVIDENTIA_OPENFGA_URL.")
    ] = False,
    store: Annotated[
        str, typer.Option(metavar="NAME", help="What the store is called that is made for it.")
    ] = "evidentia",
    as_json: JsonOption = False,
) -> None:
    """Print the model for OpenFGA, or write it to a server and print what to set.

    The store of EVIDENTIA_OPENFGA_STORE_ID is used, or one of this name; where there is none, it
    is made. A model that is the store's newest already is not written again.
    """
    from evidentia.cli.output import print_json, say
    from evidentia.errors import UsageError

    if not upload:
        _print_model(as_json=as_json)
        return
    found = settings()
    if found.openfga_url is None:
        raise UsageError("EVIDENTIA_OPENFGA_URL is not set: it says where OpenFGA is")
    from evidentia.access.openfga_client import OpenFgaClient, OpenFgaServer, placed_model
    from evidentia.proof.files import key_in

    file = found.openfga_token_file
    server = OpenFgaServer(
        url=found.openfga_url,
        store_id=found.openfga_store_id or "",
        token=None if file is None else key_in(file),
    )
    placed = placed_model(OpenFgaClient(server), store)
    ids = {
        "EVIDENTIA_OPENFGA_STORE_ID": placed.store_id,
        "EVIDENTIA_OPENFGA_MODEL_ID": placed.model_id,
    }
    if as_json:
        print_json({"store_id": placed.store_id, "model_id": placed.model_id})
        return
    for name, value in ids.items():
        typer.echo(f"{name}={value}")
    say("Set these, then run 'evidentia access sync' once.", aside=True)


def _print_model(*, as_json: bool) -> None:
    from importlib.resources import files

    from evidentia.access.openfga_client import shipped_model
    from evidentia.cli.output import print_json

    if as_json:
        print_json(shipped_model())
    else:
        typer.echo((files("evidentia.access") / "model.fga").read_text(encoding="utf-8").rstrip())


@app.command()
def sync(home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False) -> None:
    """Compare all that OpenFGA has of a tenant with the trail, and mend what differs.

    What is missing is written, what is too much is deleted. A server does so by itself as the
    trail grows: this is for the first time, and for drift that 'access audit' found.
    """
    from evidentia.cli.output import print_json, say, visible
    from evidentia.language.counting import counted

    with workspace(home, tenant) as opened:
        done = opened.access.sync()
    if as_json:
        print_json(done.as_json())
        return
    for word, some in (("written", done.written), ("deleted", done.deleted)):
        for one in some:
            say(f"{word}: {visible(str(one))}")
    written, deleted = counted(len(done.written), "tuple"), f"{len(done.deleted):,}"
    say(f"OpenFGA says what the trail says: {written} written, {deleted} deleted.", "good")


@app.command()
def audit(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """Compare all that OpenFGA has of a tenant with what the trail proves; mend nothing.

    A tuple that OpenFGA lacks, and one that nothing in the trail grants, is named. 'evidentia
    verify' has it in its audit, too. Exits with 1 if there is any.
    """
    from evidentia.cli.output import print_json, say, visible
    from evidentia.language.counting import counted

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.access.drift()
    if as_json:
        print_json(found.as_json())
    else:
        for finding in found.findings:
            say(visible(finding), "bad")
        said = counted(found.compared, "tuple")
        if not found.findings:
            say(f"OpenFGA says what the trail says: {said} compared.", "good")
        if found.on_the_way:
            say(f"{counted(found.on_the_way, 'tuple')} on the way.", under=True)
        if found.ended:
            say(f"{counted(found.ended, 'tuple')} count no more, by their end.", under=True)
        if found.others:
            say(f"{counted(found.others, 'tuple')} of relations of your own.", under=True)
    if found.findings:
        raise typer.Exit(1)


@app.command()
def status(
    home: HomeOption = None, tenant: TenantOption = None, as_json: JsonOption = False
) -> None:
    """Say how far OpenFGA was told what the trail says, and what it refused."""
    from evidentia.cli.output import print_json, say, visible
    from evidentia.language.counting import counted

    with workspace(home, tenant, read_only=True) as opened:
        found = opened.access.telling()
    if as_json:
        print_json(found.as_json())
        return
    if found.entries is None:
        say("OpenFGA was told nothing yet: 'evidentia access sync', or a server, does so.")
        return
    entries = counted(found.size, "entry", "entries")
    if found.is_in_step:
        say(f"OpenFGA was told all of {entries}.", "good")
        return
    say(f"OpenFGA was told of {found.entries:,} of {entries}; {len(found.waiting):,} wait.")
    for one in found.refused:
        say(f"{visible(one.subject)}: {visible(str(one.problem))}", "bad")


@app.command("can-view")
def can_view(
    user: Annotated[str, typer.Argument(metavar="USER", help="Who wants to see it.")],
    pack: Annotated[str, typer.Argument(metavar="PACK", help="Its id, or a decision's.")],
    home: HomeOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a user may see a pack, by the trail and by OpenFGA. Exits with 1 if not."""
    from evidentia.cli.output import print_json, say, visible

    with workspace(home, tenant, read_only=True) as opened:
        allowed = opened.access.can_view_evidence_pack(user, pack)
    if as_json:
        print_json({"user": user, "pack": pack, "allowed": allowed})
    elif allowed:
        say(f"{visible(user)} may see pack {visible(pack)}.", "good")
    else:
        say(f"{visible(user)} may not see pack {visible(pack)}, or there is none.", "bad")
    if not allowed:
        raise typer.Exit(1)
