"""Logs that may be published: names, ids, hosts and times replaced by keyed tokens (docs/anonymize.md)."""
