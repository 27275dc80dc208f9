"""The scheduling framework: what a plugin is told, may answer, and when it is called."""
