"""Posts on their way to Slack: in order, at its pace, none lost, none twice."""
