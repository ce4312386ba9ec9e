"""Pure arithmetic that puts what was found in order."""
