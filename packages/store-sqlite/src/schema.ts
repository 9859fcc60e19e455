import { corrupt, fileError } from "./failures.ts";
import type { FileConnection } from "./file-connection.ts";

/** What the setup of a file needs of a connection to it. */
type SchemaConnection = Pick<FileConnection, "exec" | "get" | "rollBack">;

/** The steps from each version of the schema to the next. Steps are added at the end, and never changed. */
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
  -- Earlier states of sessions: their fields, and the lengths of their lists.
  CREATE TABLE store.session_versions (
    session INTEGER NOT NULL,
    version INTEGER NOT NULL,
    schema_version TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    fields TEXT NOT NULL,
    lengths TEXT NOT NULL,
    PRIMARY KEY (session, version)
  ) STRICT, WITHOUT ROWID;

  -- The record without its state is JSON; the other columns are for finding it.
  CREATE TABLE store.suspensions (
    number INTEGER PRIMARY KEY,
    invocation_id TEXT NOT NULL UNIQUE,
    session_id TEXT,
    signal_id TEXT NOT NULL,
    status TEXT NOT NULL,
    is_delivered INTEGER NOT NULL,
    suspended_at TEXT NOT NULL,
    -- The revision with which it had ended and was delivered.
    ended INTEGER,
    summary TEXT NOT NULL
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
    expires_at REAL NOT NULL,
    -- The process that holds it: JSON.
    owner TEXT
  ) STRICT, WITHOUT ROWID;

  -- Continuations of shells: those with data are not used yet, those that are used stay until they would expire.
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

  -- Questions to humans: the record is JSON, the other columns are for finding it.
  CREATE TABLE store.approvals (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    digest TEXT NOT NULL,
    status TEXT NOT NULL,
    effect TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    -- When time changes it; null once it has ended.
    due_at INTEGER,
    -- The grant that has approved it, until it is taken.
    unused_grant TEXT,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX store.approvals_identical ON approvals (agent, session, digest, seq);
  CREATE INDEX store.approvals_by_status ON approvals (status, seq);
  CREATE INDEX store.approvals_by_effect ON approvals (effect, seq) WHERE effect <> 'none';
  CREATE INDEX store.approvals_due ON approvals (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX store.approvals_open ON approvals (agent, session) WHERE due_at IS NOT NULL;
  CREATE INDEX store.approvals_ended ON approvals (changed_at) WHERE due_at IS NULL;
  CREATE INDEX store.approvals_unused ON approvals (unused_grant) WHERE unused_grant IS NOT NULL;
  CREATE TABLE store.grants (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What agents did: the body is JSON as lists show it, the other columns are for finding it.
  CREATE TABLE store.timeline (
    -- The number of the change that made it; seq is that of its last change.
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    session_key TEXT NOT NULL,
    turn TEXT,
    tool TEXT,
    decision TEXT,
    rule TEXT,
    state TEXT NOT NULL,
    -- Null once the row has ended.
    key TEXT,
    approval TEXT,
    -- The store that wrote it last.
    writer TEXT NOT NULL,
    -- What a search for text looks at, in lower case.
    words TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    body TEXT NOT NULL,
    -- The last column: a list does not read it.
    content TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX store.timeline_by_seq ON timeline (seq);
  CREATE INDEX store.timeline_by_session ON timeline (session_key, id);
  CREATE INDEX store.timeline_failed ON timeline (id) WHERE state IN ('failed', 'refused', 'unknown');
  CREATE INDEX store.timeline_running ON timeline (session_key) WHERE state = 'running';
  CREATE INDEX store.timeline_by_key ON timeline (key, id) WHERE key IS NOT NULL;
  CREATE INDEX store.timeline_by_approval ON timeline (approval, id) WHERE approval IS NOT NULL;
  -- A search reads this, and not the rows with all that they hold.
  CREATE INDEX store.timeline_searched ON timeline (id, tool, decision, words);
  CREATE TABLE store.timeline_counter (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT;
  INSERT INTO store.timeline_counter (one, last, rows, bytes) VALUES (1, 0, 0, 0);
  CREATE TABLE store.timeline_sessions (
    key TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    workspace TEXT,
    -- What the session was asked first.
    title TEXT,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    actions INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    running INTEGER NOT NULL,
    unjudged INTEGER NOT NULL,
    waiting INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE store.timeline_rules (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    decision TEXT NOT NULL,
    hits INTEGER NOT NULL,
    last_hit INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Runs that have not ended: what they began with, and what has happened in them.
  CREATE TABLE store.runs (
    number INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    session_id TEXT,
    entries INTEGER NOT NULL,
    summary TEXT NOT NULL,
    state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX store.runs_by_session ON runs (session_id, number);
  CREATE TABLE store.run_entries (
    run INTEGER NOT NULL,
    position INTEGER NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (run, position)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** Marks a file as one of this package, in the header of the file: "HKst". */
const applicationId = 0x48_4b_73_74;

/** Before the first step. Files of development builds have the versions up to this one, and another schema. */
const lastDevelopmentVersion = 16;

/** The version of the schema after these steps. */
export const versionAfter = (steps: readonly string[]): number => lastDevelopmentVersion + steps.length;

const readNumber = (connection: SchemaConnection, sql: string): number => {
  const [value] = connection.get(sql) ?? [];
  if (typeof value !== "number") throw corrupt("its header cannot be read");
  return value;
};

const fileVersion = (connection: SchemaConnection, newest: number): number => {
  const version = readNumber(connection, "PRAGMA store.user_version");
  const owner = readNumber(connection, "PRAGMA store.application_id");
  const isEmpty =
    version === 0 && owner === 0 && readNumber(connection, "SELECT count(*) FROM store.sqlite_schema") === 0;
  if (owner !== applicationId && !isEmpty) {
    throw fileError("foreign_database", "the file is the database of another program");
  }
  const found = `the file has version ${version} of the schema`;
  if (!isEmpty && version <= lastDevelopmentVersion) {
    const message = `${found}, of an earlier build, which cannot be read: choose another path`;
    throw fileError("older_schema", message);
  }
  if (version > newest) {
    throw fileError("newer_schema", `${found} and this program knows ${newest}: use a newer program`);
  }
  return version;
};

/**
 * The version of a file's schema, 0 for an empty file. Throws `foreign_database`, `older_schema` and `newer_schema`; changes
 * nothing.
 */
export const schemaVersion = (connection: SchemaConnection, steps: readonly string[]): number => {
  // One view of the file: another process may migrate it meanwhile. `exec` takes the lock: see StoreFile.
  connection.exec("BEGIN");
  try {
    connection.exec("SELECT count(*) FROM store.sqlite_schema");
    return fileVersion(connection, versionAfter(steps));
  } finally {
    connection.rollBack();
  }
};

/**
 * Migrates a file to the newest version of the schema, all or nothing. A file that has it is only read. If several
 * processes do this at once, one of them changes the file.
 */
export const migrate = (connection: SchemaConnection, steps: readonly string[]): void => {
  const newest = versionAfter(steps);
  if (schemaVersion(connection, steps) === newest) return;
  connection.exec("BEGIN IMMEDIATE");
  try {
    // The process that held the file until now may have done it.
    const done = Math.max(0, fileVersion(connection, newest) - lastDevelopmentVersion);
    for (const step of steps.slice(done)) connection.exec(step);
    connection.exec(`PRAGMA store.application_id = ${applicationId}`);
    connection.exec(`PRAGMA store.user_version = ${newest}`);
    connection.exec("COMMIT");
  } catch (error) {
    connection.rollBack();
    throw error;
  }
};
