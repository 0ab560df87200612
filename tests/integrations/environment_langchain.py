"""Prints which LangChain is installed beside evidentia, and whether the recorder can be used."""

import sys
from importlib.metadata import version

from evidentia.integrations.recorder import Recorder

sys.stdout.write(f"{version('langchain')} {callable(Recorder)}\n")
