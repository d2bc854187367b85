"""One self-contained HTML page on a replica beside its original."""
