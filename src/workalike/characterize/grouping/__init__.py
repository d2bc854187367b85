"""Files -> families: their files, dumps, roles, ranks and states."""
