"""What the model saw: evidence bounded, redacted and accounted for, byte for byte the same."""
