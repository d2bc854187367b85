"""Running programs under the capture library, and writing logs of what it counted."""
