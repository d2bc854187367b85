"""One self-contained HTML page on a replica beside its original."""

from workalike.report.page import write_report

__all__ = ["write_report"]
