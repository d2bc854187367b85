"""Many logs in one database: ingestion, reports, the portal (docs/fleet.md)."""
