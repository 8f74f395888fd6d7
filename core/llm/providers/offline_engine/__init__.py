"""The offline engine: answers from checklists and templates, without a model. Pure."""
