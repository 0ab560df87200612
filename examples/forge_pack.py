"""What someone might try with an exported pack: say that a person approved what no one reviewed."""

import json
import sys
from base64 import b64decode, b64encode
from pathlib import Path

proof = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
statement = json.loads(b64decode(proof["envelope"]["payload"]))
statement["predicate"] |= {
    "reviewer_id": "head.of.hr",
    "reviewed_at": "2026-01-05T09:30:00.000000Z",
    "review_outcome": "approved",
}
print("forged: head.of.hr approved it")
payload = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
proof["envelope"]["payload"] = b64encode(payload.encode()).decode()
text = json.dumps(proof, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
Path(sys.argv[2]).write_text(f"{text}\n", encoding="utf-8")
