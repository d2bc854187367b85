"""The version, in this one place: Python's metadata and CMake read this file."""

VERSION = "0.1.0"
