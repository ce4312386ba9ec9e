"""Capture from conversations: pure functions from a transcript to candidate memories."""

from mcp_memory.capture.candidates import MOST_PER_SESSION, candidates
from mcp_memory.capture.conversation import Call, Candidate, Reading, Turn
from mcp_memory.capture.transcripts import read_transcript

__all__ = ["MOST_PER_SESSION", "Call", "Candidate", "Reading", "Turn", "candidates", "read_transcript"]
