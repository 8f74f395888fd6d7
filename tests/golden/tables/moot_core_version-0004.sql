CREATE TABLE debates (
    id TEXT NOT NULL,
    origin TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    question TEXT NOT NULL,
    started_at DATETIME NOT NULL,
    ended_at DATETIME,
    status TEXT NOT NULL,
    run_number INTEGER NOT NULL,
    published_seq INTEGER NOT NULL,
    token_id TEXT,
    PRIMARY KEY (id),
    CONSTRAINT debates_origin UNIQUE (origin)
)

CREATE INDEX debates_place ON debates (workspace, channel, started_at)

CREATE INDEX debates_status ON debates (status)

CREATE TABLE installation (
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (name)
)

CREATE TABLE reservations (
    id TEXT NOT NULL,
    cap TEXT NOT NULL,
    debate_id TEXT NOT NULL,
    turn TEXT NOT NULL,
    nanodollars BIGINT NOT NULL,
    settled BOOLEAN NOT NULL,
    expires_at DATETIME NOT NULL,
    PRIMARY KEY (id, cap)
)

CREATE INDEX reservations_cap ON reservations (cap)

CREATE INDEX reservations_turn ON reservations (debate_id, turn)

CREATE TABLE events (
    debate_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    kind TEXT NOT NULL,
    at DATETIME NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (debate_id, seq),
    CONSTRAINT events_key UNIQUE (debate_id, "key"),
    CONSTRAINT events_debate FOREIGN KEY(debate_id) REFERENCES debates (id)
)

CREATE TABLE spending (
    debate_id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    day DATE NOT NULL,
    workspace TEXT NOT NULL,
    person TEXT NOT NULL,
    nanodollars BIGINT NOT NULL,
    token_id TEXT,
    PRIMARY KEY (debate_id, "key"),
    CONSTRAINT spending_debate FOREIGN KEY(debate_id) REFERENCES debates (id)
)

CREATE INDEX spending_day ON spending (workspace, day, person)
