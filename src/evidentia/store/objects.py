"""A lake in object storage: S3, Google Cloud Storage, Azure; one object for each digest.

Written once: an object is made only where there is none (`If-None-Match`). Checked: what is read
is compared with its digest, and where the newest version of an object is gone or another, an older
one that has the digest is found.
"""

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import md5, sha256
from io import BufferedReader
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from evidentia.canonical import sha256_hex
from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    GoneError,
    InputError,
    IntegrityError,
)
from evidentia.store.lake import Lake, LakeWriter, Placed, named_copy, place_of
from evidentia.trail.entry import check_tenant

if TYPE_CHECKING:
    from evidentia.store.object_lock import ObjectLock

SCHEMES: Final = ("s3", "gs", "az")
INSTALL: Final = "a lake in object storage needs more packages: pip install 'evidentia[s3]'"
LARGE: Final = 16 * 2**20
"""From how many bytes on an object is sent and fetched in parts."""
_PART: Final = 8 * 2**20
_AT_ONCE: Final = 8
"""How many objects, or parts of one, are on their way at once."""
_MOST_PLACED: Final = 1_000
_TRIES: Final = 3
_ADDRESS: Final = re.compile(r"(s3|gs|az)://([A-Za-z0-9][A-Za-z0-9._-]{1,62})(?:/(.*))?")
_ENDPOINTS: Final = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
_VARIABLES: Final = (
    *_ENDPOINTS,
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
)
_MESSAGE: Final = re.compile(r"<Message>([^<]{1,300})</Message>")
"""Where S3's own answer says what is wrong."""
_ASKER: Final = re.compile(r"(?<=//).*(?=@)", re.DOTALL)
_MISSPELT: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|(?:s3|gs|az)//")
_CLIENT: Final[Mapping[str, Any]] = {
    "allow_http": True,  # where the address of the service says so, as on one's own machine
    "connect_timeout": "5s",
    "timeout": "120s",
}
_RETRIES: Final[Mapping[str, Any]] = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=30),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=5),
        "base": 2,
    },
}


class ObjectLake(Lake):
    """A lake in a bucket: `PREFIX/TENANT/sha256/ab/cd/abcd…`, of one tenant or before any.

    Where the service is and its keys are what its own variables say (`AWS_…`, `GOOGLE_…`,
    `AZURE_…`), or the machine's role. Nothing is asked of it before the first call.
    """

    is_remote = True

    def __init__(self, address: str, *, tenant: str | None = None) -> None:
        self.scheme, self.bucket, self._prefix = parts_of(address)
        self.address = address.rstrip("/")
        self._tenant = tenant
        self._placed: OrderedDict[str, Placed] = OrderedDict()
        self._lock = threading.Lock()
        self._above: ObjectLake = self

    @property
    def place(self) -> str:
        """The address that its own objects are below: the lake's, with the tenant's part."""
        return "/".join([self.address, *([self._tenant] if self._tenant else [])])

    def of(self, tenant: str) -> "ObjectLake":
        """Return a tenant's part; all parts share one connection."""
        part = ObjectLake(self.address, tenant=check_tenant(tenant))
        part._above = self._above
        return part

    def below(self, folder: str) -> "ObjectLake":
        """Return a part whose name no tenant can have, for what is no evidence."""
        part = ObjectLake(self.address, tenant=folder)
        part._above = self._above
        return part

    def shared(self) -> Lake | None:
        """Return itself, unless it is one tenant's alone."""
        return self if self._tenant is None else None

    # Writing

    def put(self, data: bytes, *, copy: int = 0) -> str:
        """Keep bytes; return their digest."""
        digest = sha256_hex(data)
        self._put(digest, data, len(data), copy)
        return digest

    def put_all(
        self, data: Collection[bytes], *, copies: Mapping[str, int] = MappingProxyType({})
    ) -> list[str]:
        """Keep bytes of several digests, several at once; return the digests."""

        def put(one: bytes) -> str:
            return self.put(one, copy=copies.get(sha256_hex(one), 0))

        if len(data) < 2:  # noqa: PLR2004 - one needs no one beside it
            return [put(one) for one in data]
        with ThreadPoolExecutor(min(_AT_ONCE, len(data))) as pool:
            return list(pool.map(put, data))

    @contextmanager
    def writer(self) -> Iterator["ObjectLakeWriter"]:
        """Give what keeps bytes piece by piece; what is not kept when the block ends is gone.

        They wait on this machine's disk until their digest is known, which is their name.
        """
        with TemporaryFile() as file:
            yield ObjectLakeWriter(self, file)

    def _put(self, digest: str, data: "bytes | IO[bytes]", size: int, copy: int) -> None:
        key = self._key(digest, copy)
        for _ in range(_TRIES):
            # what is sent in parts is not refused where there is an object: it is looked before
            known = self._head(key) if size >= LARGE else None
            if known is None:
                try:
                    self._remember(digest, key, self._send(key, data, size, anew=False))
                except FileExistsError:
                    known = self._head(key)
                else:
                    return
            if known is None:  # removed just now
                continue
            if not self._is_same(key, known, data, size):
                known = self._send(key, data, size, anew=True)  # damaged: mended
            self._remember(digest, key, known)
            return
        raise EnvironmentProblem(
            f"{self._where(key)}: it was removed each time it was to be kept: is the bucket "
            "emptied by a lifecycle rule?"
        )

    def _send(
        self, key: str, data: "bytes | IO[bytes]", size: int, *, anew: bool
    ) -> Mapping[str, Any]:
        """Send an object; raise `FileExistsError` if there is one, unless it is to be replaced."""
        obstore = _obstore()
        if not isinstance(data, bytes):
            data.seek(0)
        how: dict[str, Any] = {"mode": "overwrite" if anew else "create", "use_multipart": False}
        if size >= LARGE:
            how = {"chunk_size": _PART, "max_concurrency": _AT_ONCE, "use_multipart": True}
        with self._asking(key):
            try:
                sent: Mapping[str, Any] = obstore.put(self.store, key, data, **how)
            except obstore.exceptions.AlreadyExistsError:
                raise FileExistsError(key) from None
        return sent

    def _is_same(
        self, key: str, known: Mapping[str, Any], data: "bytes | IO[bytes]", size: int
    ) -> bool:
        """Whether an object has the bytes that it should: its tag tells, or else reading it."""
        if known["size"] != size:
            return False
        tag = str(known.get("e_tag") or "").strip('"')
        if isinstance(data, bytes) and tag == md5(data, usedforsecurity=False).hexdigest():
            return True
        with suppress(IntegrityError):
            found = self._digest(key, known.get("version"))
            return found == named_copy(key.rpartition("/")[2])[0]
        return False

    # Reading

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""
        for key, version in self._places(digest):
            with self._reading(key):
                data = bytes(_obstore().get(self.store, key, options=_of(version)).bytes())
                if sha256_hex(data) == digest:
                    return data
        raise self._unfound(digest)

    @contextmanager
    def open(self, digest: str) -> Iterator[BufferedReader]:
        """Give the bytes of a digest as a stream, which was checked before; for large ones.

        They are fetched once, to this machine's disk, and removed from there at the end.
        """
        with TemporaryFile(buffering=0) as file:
            self._fetch(digest, file)
            file.seek(0)
            with open(os.dup(file.fileno()), "rb") as reader:  # noqa: PTH123 - it has no path
                yield reader

    def check(self, digest: str) -> int:
        """Return how many bytes a digest has, once all of them were read and found the same."""
        return self._fetch(digest, None)

    def holds(self, digest: str) -> bool:
        """Whether there are bytes under a digest, also hidden ones; they are not checked."""
        key = self._key(digest)
        return (
            self._head(key) is not None or any(self._copies(digest)) or bool(self._versions(digest))
        )

    def digests(self) -> Iterator[str]:
        """Give the digests under which there are bytes, which are not checked, in order."""
        given = ""
        for key in self._keys(f"{self._folder}sha256/"):
            digest, copy = named_copy(key.rpartition("/")[2])
            if digest != given and digest and key == self._key(digest, copy):
                given = digest
                yield digest

    def placed(self, digest: str) -> Placed | None:
        """Return under which key and as which version the bytes are; None if they are nowhere."""
        with self._lock:
            if (known := self._placed.get(digest)) is not None:
                return known
        for key in (self._key(digest), *self._copies(digest)):
            if (found := self._head(key)) is not None:
                return Placed(digest, self._full(key), found.get("version"))
        for key, version in self._versions(digest):  # a marker hides them
            return Placed(digest, self._full(key), version)
        return None

    def names(self, place: Placed) -> bool:
        """Whether a place is one where this part of the lake keeps the bytes of its digest."""
        digest, copy = named_copy(place.key.rpartition("/")[2])
        return digest == place.digest and place.key == self._full(self._key(digest, copy))

    def address_of(self, digest: str) -> str:
        """Return where the bytes of a digest go in the service, whether they are there or not."""
        return self._where(self._key(digest))

    def presigned(self, digest: str, seconds: int, *, at: Placed | None = None) -> str | None:
        """Return an address that gives the bytes to anyone for some seconds.

        `at` is where they were kept, as far as that is noted: that version is given, and not what
        took its place since. Who may have them is to be asked before.
        """
        place = at if at is not None and self._is_there(at) else self.placed(digest)
        if place is None:
            return None
        if self.scheme == "s3" and place.version is not None:
            return self.locks.presigned(place, seconds)
        key = place.key.removeprefix(f"{self._prefix}/") if self._prefix else place.key
        with self._asking(key):
            signed = _obstore().sign(self.store, "GET", key, timedelta(seconds=seconds))
        return str(signed)

    def _is_there(self, place: Placed) -> bool:
        """Whether a version is there; where there are none, the newest is all there is."""
        if self.scheme != "s3" or place.version is None or not self.names(place):
            return False
        return self.locks.locked(place) is not None

    def _fetch(self, digest: str, into: "IO[bytes] | None") -> int:
        """Read the bytes of a digest in parts, and write them; return how many there are."""
        for key, version in self._places(digest):
            with self._reading(key):
                hashed, size = sha256(), 0
                if into is not None:
                    into.seek(0)
                    into.truncate()
                got = _obstore().get(self.store, key, options=_of(version))
                for part in got.stream(min_chunk_size=_PART):
                    hashed.update(part)
                    size += len(part)
                    if into is not None:
                        into.write(part)
                if hashed.hexdigest() == digest:
                    return size
        raise self._unfound(digest)

    def _digest(self, key: str, version: str | None) -> str:
        hashed = sha256()
        with self._reading(key):
            got = _obstore().get(self.store, key, options=_of(version))
            for part in got.stream(min_chunk_size=_PART):
                hashed.update(part)
        return hashed.hexdigest()

    def _places(self, digest: str) -> Iterator[tuple[str, str | None]]:
        """Give where bytes may be: the newest of the first copy, then all that there ever was.

        What hides an object, or took its place, hides nothing that the bucket still has.
        """
        yield self._key(digest), None
        for key in self._copies(digest):
            yield key, None
        for key, version in self._versions(digest):
            yield key, version

    def _copies(self, digest: str) -> Iterator[str]:
        begins = f"{self._key(digest)}."
        yield from (
            key
            for key in self._keys(f"{self._folder}{'/'.join(place_of(digest)[:3])}/")
            if key.startswith(begins)
        )

    def _versions(self, digest: str) -> list[tuple[str, str]]:
        if self.scheme != "s3":
            return []
        key = self._key(digest)
        return [
            (key + one.key.removeprefix(self._full(key)), one.version)
            for one in self.locks.versions(self._full(key))
            if not one.is_marker
        ]

    def _unfound(self, digest: str) -> EvidentiaError:
        """Return why bytes are not given: they are gone, or they are others."""
        key = self._key(digest)
        if self._head(key) is None:
            return GoneError(f"{self._where(key)}: gone from the lake; bring it back from a copy")
        return IntegrityError(f"{self._where(key)}: its bytes were changed since they were kept")

    # Removing

    def remove(self, digest: str, *, through: int = 0) -> None:
        """Remove the copies of a digest up to one, where the law wants them erased.

        Where the bucket keeps versions, each of them; Object Lock in compliance mode refuses it.
        """
        with self._lock:
            self._placed.pop(digest, None)
        for copy in range(through + 1):
            key = self._key(digest, copy)
            if self.scheme == "s3":
                self.locks.remove(self._full(key))
            else:
                with self._asking(key), suppress(FileNotFoundError):
                    _obstore().delete(self.store, key)

    def clear(self) -> None:
        """Remove all that is in it: of a part that `below` gave alone."""
        for key in self._keys(self._folder):
            if self.scheme == "s3":
                self.locks.remove(self._full(key))
            else:
                with self._asking(key), suppress(FileNotFoundError):
                    _obstore().delete(self.store, key)

    def written(self) -> Iterator[tuple[str, datetime]]:
        """Give the names of all that is in it, and when each was written, as the service says."""
        with self._asking(self._folder):
            for page in _obstore().list(self.store, self._folder):
                for one in page:
                    yield str(one["path"]).removeprefix(self._folder), one["last_modified"]

    # Asking

    @cached_property
    def locks(self) -> "ObjectLock":
        """What knows of versions, retention and holds, which only S3 has in this form."""
        if self._above is not self:
            return self._above.locks
        from evidentia.store.object_lock import ObjectLock  # noqa: PLC0415 - slow to import

        return ObjectLock(self.bucket, self.address)

    @cached_property
    def store(self) -> Any:
        """The client, which all parts of the lake share."""
        if self._above is not self:
            return self._above.store
        obstore = _obstore()
        if self.scheme == "s3":
            _check_variables(os.environ)
        where = f"{self.scheme}://{self.bucket}" + (f"/{self._prefix}" if self._prefix else "")
        try:
            more = {"checksum_algorithm": "SHA256"} if self.scheme == "s3" else {}
            return obstore.store.from_url(
                where, client_options=_CLIENT, retry_config=_RETRIES, **more
            )
        except (obstore.exceptions.BaseError, ValueError) as error:
            raise EnvironmentProblem(
                f"{self.address}: it cannot be asked ({_first_line(error)}): the service's own "
                "variables say where it is and what its keys are"
            ) from None

    @property
    def _folder(self) -> str:
        return f"{self._tenant}/" if self._tenant is not None else ""

    def _key(self, digest: str, copy: int = 0) -> str:
        return self._folder + "/".join(place_of(digest, copy))

    def _full(self, key: str) -> str:
        return f"{self._prefix}/{key}" if self._prefix else key

    def _where(self, key: str) -> str:
        return f"{self.address}/{key}"

    def _remember(self, digest: str, key: str, said: Mapping[str, Any]) -> None:
        with self._lock:
            self._placed[digest] = Placed(digest, self._full(key), said.get("version"))
            while len(self._placed) > _MOST_PLACED:
                self._placed.popitem(last=False)

    def _head(self, key: str) -> Mapping[str, Any] | None:
        with self._asking(key):
            try:
                found: Mapping[str, Any] = _obstore().head(self.store, key)
            except FileNotFoundError as error:
                self._refuse_no_bucket(error)
                return None
        return found

    def _keys(self, begins: str) -> Iterator[str]:
        with self._asking(begins):
            for page in _obstore().list(self.store, begins):
                yield from sorted(one["path"] for one in page)

    @contextmanager
    def asking(self, key: str) -> Iterator[Any]:
        """Give the client for what is no part of the lake; its errors are told as ours."""
        with self._asking(key):
            yield _obstore()

    @contextmanager
    def _reading(self, key: str) -> Iterator[None]:
        """Go on to the next place where an object is gone."""
        with self._asking(key):
            try:
                yield
            except FileNotFoundError as error:
                self._refuse_no_bucket(error)

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        """Turn the client's errors into ours: unreachable, not allowed, no bucket."""
        try:
            yield
        except FileNotFoundError as error:
            self._refuse_no_bucket(error)
            raise GoneError(
                f"{self._where(key)}: gone from the lake; bring it back from a copy"
            ) from None
        except FileExistsError:
            raise
        except OSError as error:
            raise EnvironmentProblem(f"{self._where(key)}: {error.strerror or error}") from error
        except _obstore().exceptions.BaseError as error:
            self._refuse_no_bucket(error)
            raise problem(self._where(key), error) from error

    def _refuse_no_bucket(self, error: Exception) -> None:
        if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
            raise EnvironmentProblem(
                f"{self.address}: there is no bucket {self.bucket!r}: make it, or correct its name"
            ) from None


class ObjectLakeWriter(LakeWriter):
    """Bytes on their way into a lake in object storage."""

    def __init__(self, lake: ObjectLake, file: "IO[bytes]") -> None:
        self.byte_count = 0
        self._lake, self._file = lake, file
        self._digest = sha256()

    def write(self, data: bytes) -> None:
        """Add bytes after those before."""
        try:
            self._file.write(data)
        except OSError as error:
            raise EnvironmentProblem(
                f"the folder for temporary files cannot be written ({error.strerror})"
            ) from error
        self._digest.update(data)
        self.byte_count += len(data)

    def keep(self) -> str:
        """Keep what was written, and return its digest. It is durable when this returns."""
        self._file.flush()
        digest = self._digest.hexdigest()
        self._lake._put(digest, self._file, self.byte_count, 0)  # noqa: SLF001 - its own writer
        return digest


def is_bucket(where: str) -> bool:
    """Whether this names object storage, and not a folder.

    Raise `InputError` for what is neither, such as `s3:/bucket`: as the name of a folder it would
    be one machine's, and nobody would notice.
    """
    if "://" in where:
        return True
    if _MISSPELT.match(where):
        raise InputError(
            f"{where[:200]!r} is neither a bucket nor a folder: write a bucket as "
            "s3://bucket/prefix, gs://bucket/prefix or az://container/prefix, and a folder as ./…"
        )
    return False


def _check_variables(environment: Mapping[str, str]) -> None:
    """Refuse what S3's client reads from the environment by itself, and would end the process at.

    Values are not shown: among them are secrets.
    """
    for name, value in environment.items():
        read = name.upper()
        if read in _VARIABLES and any(one.isspace() for one in value):
            raise EnvironmentProblem(
                f"{name} has a space or a line break in it, and so can't be sent: take it out"
            )
        if read in _ENDPOINTS and value and not _is_web_address(value):
            raise EnvironmentProblem(
                f"{name} is no address of a web server: write it as https://objects.example.com or "
                "http://localhost:8333"
            )


def _is_web_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:
        return False
    return value.isascii() and parts.scheme in {"http", "https"} and bool(parts.hostname)


def parts_of(address: str) -> tuple[str, str, str]:
    """Return the scheme, the bucket and the prefix of an address such as `s3://bucket/prefix`."""
    found = _ADDRESS.fullmatch(address)
    prefix = (found[3] or "").rstrip("/") if found else ""
    if found is None or any(part in {"", ".", ".."} for part in prefix.split("/") if prefix):
        raise EnvironmentProblem(
            f"{_ASKER.sub('***', address)[:200]!r} is no address of a bucket: write it as "
            "s3://bucket/prefix, gs://bucket/prefix or az://container/prefix"
        )
    return found[1], found[2], prefix


def problem(where: str, error: Exception) -> EnvironmentProblem:
    """Return an error of the client as ours, which says what to do about it."""
    said, name = str(error), type(error).__name__
    if "HTTP error" in said or "ConnectTimeout" in name or "EndpointConnection" in name:
        return EnvironmentProblem(
            f"{where}: the object storage cannot be reached: is its address right "
            "(AWS_ENDPOINT_URL, of another service than Amazon's), and does it run?"
        )
    denied = ("PermissionDenied", "Unauthenticated", "NoCredentials", "CredentialRetrieval")
    told = ("AccessDenied", "403", "401", "SignatureDoesNotMatch", "InvalidAccessKeyId")
    if name.startswith(denied) or any(word in said for word in told):
        asked = getattr(error, "operation_name", None)  # as the right to it is called
        what = f"it ({asked})" if asked else "it"
        return EnvironmentProblem(
            f"{where}: the object storage does not allow {what}: look at the keys that it is asked "
            "with (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the machine's role) and what "
            "they may do"
        )
    return EnvironmentProblem(f"{where}: the object storage failed: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    if said := _MESSAGE.search(str(error)):
        return said[1]
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


def _of(version: str | None) -> Any:
    return None if version is None else {"version": version}


def _obstore() -> Any:
    try:
        import obstore  # noqa: PLC0415 - an extra
        import obstore.exceptions  # noqa: PLC0415 - the same
        import obstore.store  # noqa: PLC0415 - the same
    except ImportError as error:
        raise EnvironmentProblem(f"{INSTALL} ({error.name} is missing)") from None
    return obstore
