"""Known methods a user might pick instead; each is a `HashEncoder`, so that all are compared alike."""
