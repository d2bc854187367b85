"""Statistics of a study: pure functions from columns of trials to answers. numpy and scipy only; no files.

docs/statistics.md explains every method.
"""
