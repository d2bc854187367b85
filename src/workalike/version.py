"""The only place of the version: Python's metadata and CMake read this file."""

VERSION = "0.9.0"
