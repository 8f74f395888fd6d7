"""The rules of debates as pure functions: schedule, formats, history, options and votes."""
