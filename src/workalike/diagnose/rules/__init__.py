"""One file per rule; `registry` finds them."""
