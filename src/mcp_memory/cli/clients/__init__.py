"""Connects the AI clients of this machine by careful changes to their settings files."""
