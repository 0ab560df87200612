"""Make the bucket that EVIDENTIA_LAKE names, with versions and Object Lock, unless it is there."""

import os
import time
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import BotoCoreError, ClientError

ATTEMPTS = 60


def make(name: str) -> None:
    """Make the bucket; an object storage that has just started is asked again for a minute."""
    client = boto3.client("s3")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            client.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
        except (client.exceptions.BucketAlreadyOwnedByYou, client.exceptions.BucketAlreadyExists):
            return
        except (BotoCoreError, ClientError):
            if attempt == ATTEMPTS:
                raise
            time.sleep(1)
        else:
            return


if __name__ == "__main__":
    make(urlsplit(os.environ["EVIDENTIA_LAKE"]).netloc)
