"""What people do to a debate: answer, steer, vote, decide. No Slack in here."""
