"""What people do, written once: start, answer, note, steer, decide, find, remind."""
