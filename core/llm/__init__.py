"""Model calls: retries, caps, prices, sizes of prompts, structured answers, providers."""
