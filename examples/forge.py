"""What someone might try with a proved ledger: call claims supported that no document bears out.

The forger is thorough: the verdict, the counts and the risk flags are changed alike.
"""

import json
import sys
from base64 import b64decode, b64encode
from pathlib import Path

proof = json.loads(Path(sys.argv[1]).read_text())
statement = json.loads(b64decode(proof["envelope"]["payload"]))
ledger = statement["predicate"]["ledger"]
for entry in ledger["entries"]:
    if entry["verdict"] in {"contradicted", "not_found"}:
        ledger["summary"]["by_verdict"][entry["verdict"]] -= 1
        entry["verdict"] = "supported"
        ledger["summary"]["by_verdict"]["supported"] += 1
        print(f"forged: {entry['claim_text']} is supported")
ledger["risk_flags"] = []
payload = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
proof["envelope"]["payload"] = b64encode(payload.encode()).decode()
Path(sys.argv[2]).write_text(json.dumps(proof))
