"""Running Moot: doctor, health, metrics, traces, backup."""
