"""Pairs whose label is known by construction: a sentence, and the same one with a change.

What a change makes of a sentence is judged with the sentence alone as evidence: a conflict about
the same fact contradicts, what the sentence leaves open is not found. Where that is unclear nothing
is made. Pairs come in groups in which each text stands both as evidence and as claim, so that
neither of the two alone tells the label.
"""

from training.perturb.change import Change
from training.perturb.changing import changes
from training.perturb.names import Names, names_in
from training.perturb.pairs import synthetic_pairs

__all__ = ["Change", "Names", "changes", "names_in", "synthetic_pairs"]
