"""Pure functions over text: words, fingerprints, snapshots, topics and sameness."""
