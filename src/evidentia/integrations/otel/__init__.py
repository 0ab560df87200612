"""OpenTelemetry: spans become runs, and what was checked, sealed and decided become spans.

`spans` are values, `otlp_json` and `otlp_protobuf` read them from what exporters send, `genai` and
`openinference` know what programs call things, `traces` makes a run of the spans of a trace: all of
it from values, without a clock. `gathering` keeps spans until their trace is closed and records it;
`files` reads what a collector wrote; `telemetry` is what goes out.
"""
