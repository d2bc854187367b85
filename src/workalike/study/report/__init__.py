"""The page of a study: self-contained HTML, with each figure also as SVG and its numbers as CSV."""

from workalike.study.report.page import write_study_report
from workalike.study.report.table import DumpTable, StudyTable

__all__ = ["DumpTable", "StudyTable", "write_study_report"]
