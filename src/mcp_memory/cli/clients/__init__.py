"""Connects the AI clients of this machine: their settings files, and how to change them with care."""
