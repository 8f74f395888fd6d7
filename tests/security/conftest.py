"""How hard the fuzzers try: `--hypothesis-profile=thorough --hypothesis-show-statistics`."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "thorough",
    max_examples=2000,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
