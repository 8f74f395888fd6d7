"""What is on its way out of Moot: one durable queue with lanes; none lost, none twice."""
