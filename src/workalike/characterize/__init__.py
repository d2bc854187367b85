"""log -> workload. `facts` is the data structure, every other module a few named rules over it."""

from workalike.characterize.facts import Characterization, DumpFacts, FamilyFacts, FileFacts
from workalike.characterize.pipeline import CharacterizeOptions, characterize

__all__ = [
    "Characterization",
    "CharacterizeOptions",
    "DumpFacts",
    "FamilyFacts",
    "FileFacts",
    "characterize",
]
