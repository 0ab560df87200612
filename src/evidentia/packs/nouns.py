"""What packs count, in both languages."""

from typing import Final

from evidentia.language.wording import CountedNoun

SOURCE: Final = CountedNoun("مصدر", "مصادر", "source", "sources")
TOOL: Final = CountedNoun("أداة", "أدوات", "tool", "tools")
CALL: Final = CountedNoun("استدعاء", "استدعاءات", "call", "calls")
TOOL_CALL: Final = CountedNoun("استدعاء", "استدعاءات", "tool call", "tool calls", "للأدوات")
CONTRADICTION: Final = CountedNoun("تعارض", "تعارضات", "contradiction", "contradictions")
CLAIM: Final = CountedNoun("ادعاء", "ادعاءات", "claim", "claims")
EFFECT: Final = CountedNoun("أثر", "آثار", "side effect", "side effects")
VERSION: Final = CountedNoun("نسخة", "نسخ", "version", "versions")
REVIEWER: Final = CountedNoun("مراجع", "مراجعين", "reviewer", "reviewers", none="لا يوجد مراجعون")
