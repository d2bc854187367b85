"""Tests with real parts: applications, a browser, a scheduler, a parallel file system. `make test-system`."""
