"""A debate as text: report, decision record, plain decision, JSON, and why each turn ran."""
