CREATE TABLE channel_settings (
    workspace TEXT NOT NULL,
    channel TEXT NOT NULL,
    settings JSON NOT NULL,
    PRIMARY KEY (workspace, channel)
)

CREATE TABLE deliveries (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    at DATETIME NOT NULL,
    PRIMARY KEY (kind, id)
)

CREATE INDEX deliveries_at ON deliveries (at)

CREATE TABLE lanes (
    lane TEXT NOT NULL,
    owner TEXT,
    until DOUBLE NOT NULL,
    PRIMARY KEY (lane)
)

CREATE TABLE organisations (
    workspace TEXT NOT NULL,
    enterprise TEXT NOT NULL,
    PRIMARY KEY (workspace)
)

CREATE TABLE page_grants (
    debate_id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    granted TEXT NOT NULL,
    PRIMARY KEY (debate_id)
)

CREATE TABLE personal_tokens (
    id TEXT NOT NULL,
    workspace TEXT NOT NULL,
    person TEXT NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    origin TEXT NOT NULL,
    made_at DATETIME NOT NULL,
    expires_at DATETIME NOT NULL,
    used_at DATETIME,
    PRIMARY KEY (id),
    CONSTRAINT personal_tokens_origin UNIQUE (origin),
    CONSTRAINT personal_tokens_number UNIQUE (workspace, person, number)
)

CREATE TABLE queue (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "key" TEXT NOT NULL,
    method TEXT NOT NULL,
    lane TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel TEXT NOT NULL,
    debate_id TEXT,
    thread_key TEXT,
    payload JSON NOT NULL,
    urgent BOOLEAN DEFAULT 0 NOT NULL,
    state TEXT NOT NULL,
    owner TEXT,
    attempts INTEGER DEFAULT '0' NOT NULL,
    attempted_at DOUBLE,
    due DOUBLE DEFAULT '0' NOT NULL,
    ts TEXT,
    error TEXT,
    post TEXT,
    edit_lane TEXT,
    wanted_seq INTEGER DEFAULT '0' NOT NULL,
    shown_seq INTEGER DEFAULT '0' NOT NULL,
    shown_hash TEXT,
    shown_at DOUBLE DEFAULT '0' NOT NULL,
    hurry BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT queue_key UNIQUE ("key")
)

CREATE INDEX queue_debate ON queue (debate_id, id)

CREATE INDEX queue_landings ON queue (lane, id) WHERE method = 'landing'

CREATE INDEX queue_stale ON queue (edit_lane, hurry, shown_at) WHERE post IS NOT NULL AND state = 'sent' AND wanted_seq > shown_seq

CREATE INDEX queue_thread ON queue (workspace, channel, ts)

CREATE INDEX queue_unsent ON queue (lane, id) WHERE state IN ('waiting', 'sending')

CREATE INDEX queue_unsent_debate ON queue (debate_id, lane, id) WHERE state IN ('waiting', 'sending')

CREATE TABLE reminders (
    debate_id TEXT NOT NULL,
    decision TEXT NOT NULL,
    due_at DATETIME NOT NULL,
    PRIMARY KEY (debate_id, decision)
)

CREATE INDEX reminders_due ON reminders (due_at)

CREATE TABLE restored (
    debate_id TEXT NOT NULL,
    PRIMARY KEY (debate_id)
)
