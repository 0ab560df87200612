"""The nli judge: a small model of evidence and claim, trained here and run offline."""
