"""The command line: one module per command group.

Commands import what they need when they run, so that `--help` is fast; every command takes
`--json`; exit codes are 0 holds, 1 does not hold, 2 usage, 3 environment.
"""
