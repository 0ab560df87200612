"""The worker that runs functions, within limits. Run as a command."""

from evidentia.jobs.tasks import answer
from evidentia.loading.workers import serve

if __name__ == "__main__":
    serve(answer)
