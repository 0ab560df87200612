"""What the model saw: evidence bounded, redacted and accounted for, the same to the last byte."""
