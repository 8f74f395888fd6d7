"""What is about Slack: clients, access, payloads, ids, connection, install, mrkdwn, outbox."""
