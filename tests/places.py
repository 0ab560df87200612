"""Where a test keeps its evidence: an embedded database, or one on the server."""

from pathlib import Path

from evidentia.store.database import Database
from evidentia.store.home import Home
from evidentia.store.lake import FileLake, Lake, MovedLake, place_of
from evidentia.trail.record import EvidenceRecord, create_status_change_record
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import DEFAULT_TENANT, Opened


class Place:
    """A database and a home folder, from which any number of workspaces can be opened."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.home = Home(folder)
        self.url = url
        self._opened: list[Workspace] = []

    @property
    def is_sqlite(self) -> bool:
        return self.url is None

    def open(self, tenant: str = DEFAULT_TENANT, *, home: Path | None = None) -> Workspace:
        """Open another workspace on the same data; it is closed with the place.

        `home` is another folder for keys and checkpoints.
        """
        if self.url is not None:
            workspace = open_workspace(self.url, tenant=tenant, home=home or self.home.folder)
        elif home is None:
            workspace = open_workspace(self.home.folder, tenant=tenant)
        else:
            workspace = Opened(Database.sqlite(self.home.database), Home(home)).for_(tenant)
        self.keep(workspace)
        return workspace

    def keep(self, workspace: Workspace) -> None:
        """Close a workspace that was opened otherwise with the place."""
        self._opened.append(workspace)

    def close(self) -> None:
        """Close all workspaces that were opened here."""
        while self._opened:
            self._opened.pop().close()


def kept_file(workspace: Workspace, digest: str) -> Path:
    """Return where the lake of a workspace keeps the bytes of a digest."""
    return lake_folder(workspace).joinpath(*place_of(digest))


def lake_folder(workspace: Workspace) -> Path:
    """Return the folder of a tenant's files: on a server, each has its own."""
    lake = lake_of(workspace)
    if isinstance(lake, MovedLake):
        lake = lake.lake
    assert isinstance(lake, FileLake)
    return lake.folder


def lake_of(workspace: Workspace) -> Lake:
    """Return the lake of a workspace's tenant."""
    return workspace.opened.lake.of(workspace.tenant)


def record(number: int = 0, **changes: object) -> EvidenceRecord:
    """Return an evidence record; equal numbers give equal records."""
    return EvidenceRecord.model_validate(
        {
            "obligation_id": f"ob-{number:04d}",
            "doc_id": "doc-1",
            "doc_filename": "services_agreement.pdf",
            "page_number": number % 40 + 1,
            "section_reference": "Article 1.1",
            "source_clause": f"The vendor shall deliver part {number} within 30 days — «فورا».",
            "extraction_model": "extractor-a",
            "verification_model": "verifier-b",
            "verification_result": "CONFIRMED",
            "confidence": 0.95,
        }
        | changes
    )


def status_change(number: int = 0) -> EvidenceRecord:
    """Return a record of a status that changed."""
    return create_status_change_record(f"ob-{number:04d}", "open", "met", "delivered", "doc-2")
