"""What people see in Slack: values in, blocks out (pure)."""
