"""The offline engine: reads a debate's texts and answers from checklists, without a model. Pure."""
