"""An answer in DeepEval: two numbers of its ledger, and the claim that no passage supports."""

from deepeval.test_case import LLMTestCase

from evidentia.integrations.deepeval import EvidentiaMetric

case = LLMTestCase(
    input="How much leave do I get?",
    actual_output="Permanent employees receive 15 days of annual leave. Hotels cost up to $200.",
    retrieval_context=[
        "All permanent employees receive 15 days of annual leave.",
        "Hotel costs are refunded up to $150 per night.",
    ],
)
judges = ["quote", "numbers"]  # these need no model; left out, all that are installed judge
for name, threshold in (("faithfulness", 0.9), ("contextual_precision", 0.5)):
    metric = EvidentiaMetric(name, threshold=threshold, judges=judges, home="evidence")
    print(name, metric.measure(case), "passes" if metric.is_successful() else "fails")
    if not metric.is_successful():
        print(metric.reason)
