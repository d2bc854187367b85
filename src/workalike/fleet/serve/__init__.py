"""The portal: pages and a JSON interface over a database, rendered on the server."""
