"""An agent that answers from documents over MCP, checks itself, and records what it decided.

A model would write the answers; here they are written down, so that it says the same each time.
The server is started as `mcp.json` beside this file says, which MCP clients read as well.
"""

import json
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

CONFIGURED = Path(__file__).parent / "mcp.json"
QUESTION = "How many days of annual leave does a permanent employee have?"
DRAFT = "A permanent employee has 25 days of annual leave [cite:{anchor}]."
CORRECTED = "A permanent employee has 15 days of annual leave [cite:{anchor}]."


async def call(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    """Call a tool; return its structured result, or raise what it says went wrong."""
    result = await client.call_tool(tool, given)
    if result.is_error or result.structured_content is None:
        raise RuntimeError(f"{tool}: {result.content}")
    return dict(result.structured_content)


async def converse(client: Client) -> None:
    """Answer the question, check the answer, correct it, and decide by it."""
    query = "permanent employees annual leave days"
    found = (await call(client, "find_passages", query=query))["passages"]
    passage = next(one for one in found if "15 days" in one["text"])
    print(f"found [cite:{passage['cite']}] in {passage['document']}, page {passage['page']}")
    ledger: dict[str, Any] = {}
    for answer in (DRAFT, CORRECTED):
        text = answer.format(anchor=passage["cite"])
        ledger = await call(client, "check_answer", answer=text, question=QUESTION)
        print(f"{ledger['claims'][0]['verdict']}: {text}")
        print(f"  {ledger['what_to_do']}")
    decision = await call(
        client,
        "record_decision",
        decision="Grant 15 days of annual leave.",
        entity="emp_12",
        model="written down",
        approval="A2",
        reversibility="R1",
        sensitivity="S1",
        confidence=0.9,
        ledger=ledger["ledger_id"],
        evidence=[
            {
                "source": passage["document"],
                "reference": f"[cite:{passage['cite']}]",
                "excerpt": passage["text"][:300],
            }
        ],
    )
    print(f"recorded by {decision['agent_name']}: {decision['what_to_do']}")


async def main() -> None:
    """Start the server, and talk to it."""
    configured = json.loads(CONFIGURED.read_text("utf-8"))["mcpServers"]["evidentia"]
    server = StdioServerParameters(command=configured["command"], args=configured["args"])
    async with Client(stdio_client(server)) as client:
        await converse(client)


if __name__ == "__main__":
    anyio.run(main)
