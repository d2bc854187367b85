"""log -> workload. `facts` is the data structure, every other module a few named rules over it."""

from workalike.characterize.pipeline import CharacterizeOptions, characterize
from workalike.facts.records import Characterization, DumpFacts, FamilyFacts, FileFacts

__all__ = [
    "Characterization",
    "CharacterizeOptions",
    "DumpFacts",
    "FamilyFacts",
    "FileFacts",
    "characterize",
]
