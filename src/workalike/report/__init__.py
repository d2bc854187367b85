"""One self-contained HTML page that compares a replica with its original."""

from workalike.report.page import write_report

__all__ = ["write_report"]
