"""Where operations land in the files."""
