"""Log -> workload, by named rules over the facts of a log."""

from workalike.characterize.pipeline import CharacterizeOptions, characterize
from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.facts.records import FileFacts

__all__ = [
    "Characterization",
    "CharacterizeOptions",
    "DumpFacts",
    "FamilyFacts",
    "FileFacts",
    "characterize",
]
