"""Judges out of a folder: any classifier of evidence and claim, run on this machine."""
