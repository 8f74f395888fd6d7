"""Asking models: the call with its retries, caps, prices, sizes, structured answers, providers."""
