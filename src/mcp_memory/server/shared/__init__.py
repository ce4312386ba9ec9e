"""The server that all of a person's assistants share: sessions and requests over a private socket."""
