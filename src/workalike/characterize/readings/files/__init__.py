"""How the files are used: opened anew, overwritten, appended to."""
