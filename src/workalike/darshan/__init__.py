"""Darshan logs: a reader, and a writer for captured and synthetic logs.

``open_log(path)`` gives a :class:`Log`, each part of which is read at its first use. The layouts of all record versions
are in :mod:`workalike.darshan.layouts`.
"""

from workalike.darshan.dxt import DxtSlice, DxtTable
from workalike.darshan.hash import record_id
from workalike.darshan.header import ModuleInfo
from workalike.darshan.heatmap import Heatmap
from workalike.darshan.job import Job
from workalike.darshan.log import Log, open_log, open_logs
from workalike.darshan.lustre import LustreComponent, LustreRecord, LustreTable
from workalike.darshan.records import RecordTable
from workalike.darshan.write import JobToWrite, LogBuilder, write_log

__all__ = [
    "DxtSlice",
    "DxtTable",
    "Heatmap",
    "Job",
    "JobToWrite",
    "Log",
    "LogBuilder",
    "LustreComponent",
    "LustreRecord",
    "LustreTable",
    "ModuleInfo",
    "RecordTable",
    "open_log",
    "open_logs",
    "record_id",
    "write_log",
]
