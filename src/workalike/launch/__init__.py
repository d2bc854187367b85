"""Starting the engine: launchers, and the run itself."""
