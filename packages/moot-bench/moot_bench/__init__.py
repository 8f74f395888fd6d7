"""Whether a debate beats one answer: scores, statistics and task files of `moot bench`."""
