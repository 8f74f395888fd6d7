"""Use cases, the same for every surface: start, answer, note, steer, decide, find, remind."""
