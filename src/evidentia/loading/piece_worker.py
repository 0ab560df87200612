"""The worker process that does pieces of bulk work. Run as a command."""

from evidentia.loading.pieces import PieceWorker
from evidentia.loading.workers import serve

if __name__ == "__main__":
    serve(PieceWorker())
