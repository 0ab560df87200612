"""Unpacks what older versions of the program wrote, on any Python from 3.11 on."""

import tarfile
from pathlib import Path


def unpack(packed: Path, folder: Path) -> None:
    """Unpack an archive of ours into a folder."""
    with tarfile.open(packed) as archive:
        # 3.11 has filters from 3.11.4 on only; before, the attribute is one like any other
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
