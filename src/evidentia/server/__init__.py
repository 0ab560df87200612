"""The server: the workspace behind one API. It is the extra `server`; only `cli.serve` loads it."""
