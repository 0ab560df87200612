"""Opening a lake: the home's folder, another folder, or a bucket."""

from pathlib import Path

from evidentia.store.home import Home
from evidentia.store.lake import FileLake, Lake, MovedLake
from evidentia.store.objects import ObjectLake, is_bucket


def open_lake(address: str | None, home: Home, *, by_tenant: bool) -> Lake:
    """Open the lake of an address, by default the folder in the home.

    What the home's folder has stays readable wherever new bytes are kept. With `by_tenant`, folders
    have a part for each tenant; a bucket always does.
    """
    at_home = FileLake(home.lake, by_tenant=by_tenant)
    if address is None:
        return at_home
    if is_bucket(address):
        lake: Lake = ObjectLake(address)
    else:
        folder = Path(address)
        if folder.absolute() == home.lake.absolute():
            return at_home
        lake = FileLake(folder, by_tenant=by_tenant)
    has_any = home.lake.is_dir() and any(home.lake.iterdir())
    return MovedLake(lake, at_home) if has_any else lake
