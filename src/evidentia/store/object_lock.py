"""S3's Object Lock: versions of objects, how long each must stay, and holds on them.

A plain delete only hides an object behind a marker, and then it may be written again as a second
version. So what is locked, looked at or removed is always a version, never a name alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, Literal

from evidentia.errors import EnvironmentProblem, UsageError
from evidentia.store.lake import Placed
from evidentia.store.objects import INSTALL, problem

LockMode = Literal["governance", "compliance"]
_NOT_LOCKED: Final = frozenset(
    {
        "NoSuchObjectLockConfiguration",
        "ObjectLockConfigurationNotFoundError",
        "InvalidRequest",
        "NotImplemented",
    }
)
"""What services answer of an object or a bucket that has no lock."""
_REGION: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""What the lake's client knows the region by; this one would take the second name alone."""
_GONE: Final = frozenset({"NoSuchKey", "NoSuchVersion", "404"})


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """A version of an object, or a marker that hides those before it."""

    key: str
    version: str
    is_newest: bool
    is_marker: bool


@dataclass(frozen=True, slots=True)
class Locked:
    """What an object's version is locked by; `until` is a time as the trail writes it."""

    mode: LockMode | None = None
    until: str | None = None
    held: bool = False


class ObjectLock:
    """The versions and locks of a bucket, asked for where the lake's own client asks."""

    def __init__(self, bucket: str, address: str) -> None:
        self._bucket, self._address = bucket, address

    @cached_property
    def is_on(self) -> bool:
        """Whether the bucket has Object Lock."""
        with self._asking(""):
            try:
                found = self._client.get_object_lock_configuration(Bucket=self._bucket)
            except self._client.exceptions.ClientError as error:
                if _code(error) in _NOT_LOCKED:
                    return False
                raise
        enabled = found.get("ObjectLockConfiguration", {}).get("ObjectLockEnabled")
        return bool(enabled == "Enabled")

    def versions(self, key: str) -> list[ObjectVersion]:
        """Return all versions of an object, of its copies too, and the markers on them."""
        return [one for page in self.pages_of_versions(key) for one in page]

    def pages_of_versions(self, key: str, most: int = 1_000) -> Iterator[list[ObjectVersion]]:
        """Give the versions of all objects whose keys begin so, in the order of their keys.

        Those of one object begin with the newest; markers come behind all others of their page.
        """
        asked: dict[str, Any] = {"Bucket": self._bucket, "Prefix": key, "MaxKeys": most}
        while True:
            with self._asking(key):
                page = self._client.list_object_versions(**asked)
            yield [
                ObjectVersion(one["Key"], str(one["VersionId"]), bool(one["IsLatest"]), is_marker)
                for name, is_marker in (("Versions", False), ("DeleteMarkers", True))
                for one in page.get(name, ())
            ]
            if not page.get("IsTruncated"):
                return
            asked["KeyMarker"] = page.get("NextKeyMarker")
            asked["VersionIdMarker"] = page.get("NextVersionIdMarker")

    def retain(self, place: Placed, mode: LockMode, until: str, *, anew: bool = False) -> None:
        """Let no one remove a version before a time; in governance mode some may be allowed to.

        `anew` puts compliance in place of governance, which those alone may do.
        """
        retention = {"Mode": mode.upper(), "RetainUntilDate": datetime.fromisoformat(until)}
        allowed = {"BypassGovernanceRetention": True} if anew else {}
        with self._asking(place.key):
            self._client.put_object_retention(**self._of(place), **allowed, Retention=retention)

    def hold(self, place: Placed, *, held: bool) -> None:
        """Let no one remove a version until the hold is ended, or end it."""
        status = {"Status": "ON" if held else "OFF"}
        with self._asking(place.key):
            self._client.put_object_legal_hold(**self._of(place), LegalHold=status)

    def locked(self, place: Placed) -> Locked | None:
        """Return what a version is locked by; None if it is not there."""
        with self._asking(place.key):
            try:
                said = self._client.head_object(**self._of(place))
            except self._client.exceptions.ClientError as error:
                if _code(error) in _GONE:
                    return None
                raise
        until, mode = said.get("ObjectLockRetainUntilDate"), said.get("ObjectLockMode")
        return Locked(
            mode=mode.lower() if mode else None,
            until=until.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"
            if until
            else None,
            held=said.get("ObjectLockLegalHoldStatus") == "ON",
        )

    def remove(self, key: str) -> None:
        """Remove an object, with all its versions and markers, by law: before its time, too.

        Raise `UsageError` for one that the bucket keeps, once all others are removed.
        """
        kept: UsageError | None = None
        for one in self.versions(key):
            if one.key == key:
                try:
                    self._remove(one)
                except UsageError as error:
                    kept = error
        if kept is not None:
            raise kept

    def _remove(self, one: ObjectVersion) -> None:
        of = {"Bucket": self._bucket, "Key": one.key, "VersionId": one.version}
        with self._asking(one.key):
            try:
                self._client.delete_object(**of)
            except self._client.exceptions.ClientError as error:
                if _code(error) not in {"AccessDenied", "InvalidRequest"} or not self.is_on:
                    raise
                self._remove_locked(one, of)

    def _remove_locked(self, one: ObjectVersion, of: dict[str, str]) -> None:
        try:
            self._client.delete_object(**of, BypassGovernanceRetention=True)
        except self._client.exceptions.ClientError as error:
            raise UsageError(
                f"{self._address}: version {one.version} of {one.key} is locked by the bucket "
                f"({_code(error)}), and stays until its lock ends: a hold on it has to be "
                "released; in governance mode the keys need s3:BypassGovernanceRetention; in "
                "compliance mode not even the law's erasure can remove it before its time"
            ) from None

    def presigned(self, place: Placed, seconds: int) -> str:
        """Return an address that gives a version to anyone for some seconds."""
        with self._asking(place.key):
            return str(
                self._client.generate_presigned_url(
                    "get_object", Params=self._of(place), ExpiresIn=seconds
                )
            )

    def _of(self, place: Placed) -> dict[str, str]:
        named = {"Bucket": self._bucket, "Key": place.key}
        return named if place.version is None else {**named, "VersionId": place.version}

    @cached_property
    def _client(self) -> Any:
        try:
            import boto3  # noqa: PLC0415 - an extra, and slow to import
            from botocore.config import Config  # noqa: PLC0415 - the same
            from botocore.session import Session  # noqa: PLC0415 - the same
        except ImportError as error:
            raise EnvironmentProblem(f"{INSTALL} ({error.name} is missing)") from None
        session = Session(session_vars={"region": ("region", list(_REGION), None, None)})
        return boto3.Session(botocore_session=session).client(
            "s3",
            config=Config(
                connect_timeout=5,
                read_timeout=60,
                retries={"total_max_attempts": 4, "mode": "standard"},
                signature_version="s3v4",  # links of the older form are refused for new buckets
            ),
        )

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        """Turn the client's errors into ours."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - the same

        where = f"{self._address.partition('://')[0]}://{self._bucket}/{key}"
        try:
            yield
        except ClientError as error:
            if _code(error) == "NoSuchBucket":
                raise EnvironmentProblem(
                    f"{self._address}: there is no bucket {self._bucket!r}: make it, or correct "
                    "its name"
                ) from None
            raise problem(where, error) from error
        except BotoCoreError as error:
            raise problem(where, error) from error


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
