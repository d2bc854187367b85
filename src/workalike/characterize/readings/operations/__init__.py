"""The order of operations, their sizes, and who makes them."""
