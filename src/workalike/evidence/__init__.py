"""Evidence from elsewhere: what a site measures of its own system, in one file without names."""
