"""A debate as a page that anybody with its link can read, and do nothing else with."""
