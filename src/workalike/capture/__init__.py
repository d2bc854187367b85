"""Running programs under the capture library, and making logs of what it counted."""
