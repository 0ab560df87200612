"""Signs what comes on standard input with a key of AWS KMS; needs boto3.

    aws kms create-key --key-spec ECC_NIST_EDWARDS25519 --key-usage SIGN_VERIFY
    evidentia keys use-command --public-key key.pem -- python aws_kms.py alias/evidentia

It takes 4,096 bytes at most. Checkpoints and most entries are smaller; statements of large ledgers
and bundles are not, and can't be proved with such a key.
"""

import sys

import boto3

answer = boto3.client("kms").sign(
    KeyId=sys.argv[1],
    Message=sys.stdin.buffer.read(),
    MessageType="RAW",
    SigningAlgorithm="ED25519_SHA_512",
)
sys.stdout.buffer.write(answer["Signature"])
