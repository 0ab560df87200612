"""Rules for claims and passages of which one is Arabic: values, force, negation and names."""
