/** What brings a file from one version of the schema to the next; the first one makes it. Only ever added to. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE store.counter (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last INTEGER NOT NULL
  ) STRICT;
  INSERT INTO store.counter (one, last) VALUES (1, 0);

  CREATE TABLE store.sessions (
    number INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    schema_version TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  -- A field without a value is a list.
  CREATE TABLE store.session_fields (
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    PRIMARY KEY (session, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE store.session_items (
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, name, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE store.suspensions (
    number INTEGER PRIMARY KEY,
    invocation_id TEXT NOT NULL UNIQUE,
    session_id TEXT,
    signal_id TEXT NOT NULL,
    status TEXT NOT NULL,
    is_delivered INTEGER NOT NULL,
    signal TEXT NOT NULL,
    result TEXT NOT NULL,
    rest TEXT NOT NULL,
    suspended_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    revision INTEGER NOT NULL,
    -- The revision with which it had ended and was delivered.
    ended INTEGER
  ) STRICT;
  CREATE INDEX store.suspensions_by_status ON suspensions (status, suspended_at);
  CREATE INDEX store.suspensions_by_signal ON suspensions (signal_id, status);
  CREATE INDEX store.suspensions_by_session ON suspensions (session_id, suspended_at);
  CREATE INDEX store.suspensions_undelivered ON suspensions (suspended_at) WHERE is_delivered = 0;
  CREATE INDEX store.suspensions_ended ON suspensions (ended) WHERE ended IS NOT NULL;
  CREATE TABLE store.suspension_states (
    suspension INTEGER PRIMARY KEY,
    frames TEXT NOT NULL,
    completed_positions TEXT NOT NULL
  ) STRICT;

  CREATE TABLE store.leases (
    key TEXT PRIMARY KEY,
    fence INTEGER NOT NULL,
    expires_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What runs of shells have left, until each is used, and that it was used until it would expire.
  CREATE TABLE store.continuations (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    owner TEXT NOT NULL,
    expires_at REAL NOT NULL,
    is_used INTEGER NOT NULL,
    data TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX store.continuations_by_end ON continuations (expires_at);
  CREATE INDEX store.continuations_by_use ON continuations (is_used, owner, number);
  CREATE TABLE store.keys (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What each session was, by its version: its fields, and of its lists only how long they were.
  CREATE TABLE store.session_versions (
    session INTEGER NOT NULL,
    version INTEGER NOT NULL,
    schema_version TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    fields TEXT NOT NULL,
    lengths TEXT NOT NULL,
    PRIMARY KEY (session, version)
  ) STRICT, WITHOUT ROWID;
  `,
];
