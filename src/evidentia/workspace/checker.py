"""The worker that checks answers, one after the other. Run as a command.

It opens the workspace and loads what judges need once. Each check is the ordinary one, in the same
user's name, and it is recorded here: judging and recording go on beside each other, and what is
recorded is safe whatever becomes of the process that asked.
"""

from evidentia.loading.workers import serve
from evidentia.workspace.preparing import Worker

if __name__ == "__main__":
    serve(Worker())
