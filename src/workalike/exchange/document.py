"""Turns an imported document into a checked workload, and into text with its notes at the top."""

from __future__ import annotations

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.notes import Imported
from workalike.workload.model import Workload
from workalike.workload.workload_file import first_error, workload_text


def workload_of(imported: Imported) -> Workload:
    """The workload that a document describes.

    Raises:
        WorkalikeError: USAGE if it is not a valid workload.
    """
    try:
        return Workload.model_validate(imported.document)
    except ValidationError as error:
        place, message = first_error(error)
        hint = "give smaller numbers, or write the workload by hand"
        raise WorkalikeError(ErrorKind.USAGE, f"as a workload: {message}", place=place, hint=hint) from error


def text_of(imported: Imported, tool: str) -> str:
    """The text of the workload file; comments at the top say what was lost or assumed."""
    head = [f"Imported from {tool}.", *(f"Note: {note.text}." for note in imported.notes.all)]
    comments = "".join(f"# {_printable(line)}\n" for line in head)
    return comments + workload_text(workload_of(imported))


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
