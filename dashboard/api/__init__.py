"""The JSON API: what the forms do, for programs."""
