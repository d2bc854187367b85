"""Replaces one module by a mutant, in every Python that starts with this folder on PYTHONPATH."""

import importlib.util
import os
import sys


class _Mutant:
    """Finder of the module that WORKALIKE_MUTANT names (`module=file`); it comes before all other finders."""

    def __init__(self, module, file):
        self.module, self.file = module, file

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, self.file) if name == self.module else None


_given = os.environ.get("WORKALIKE_MUTANT")
if _given:
    sys.meta_path.insert(0, _Mutant(*_given.split("=", 1)))
