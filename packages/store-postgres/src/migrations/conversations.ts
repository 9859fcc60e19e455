/** Sessions, suspensions, leases and runs of graphs. `store.` stands for the schema. */
export const conversations = `
CREATE SEQUENCE store.numbers;

CREATE TABLE store.sessions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id text NOT NULL UNIQUE,
  schema_version text NOT NULL,
  version bigint NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL
);
CREATE INDEX sessions_by_version ON store.sessions (version);
-- A field has a value, a list has a length.
CREATE TABLE store.session_fields (
  session bigint NOT NULL REFERENCES store.sessions ON DELETE CASCADE,
  name text NOT NULL,
  value text,
  length int,
  PRIMARY KEY (session, name),
  CHECK ((value IS NULL) <> (length IS NULL))
);
CREATE TABLE store.session_items (
  session bigint NOT NULL REFERENCES store.sessions ON DELETE CASCADE,
  name text NOT NULL,
  position int NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (session, name, position)
);
-- The states of a session, the current one included: their fields, and the lengths of their lists.
CREATE TABLE store.session_versions (
  session bigint NOT NULL REFERENCES store.sessions ON DELETE CASCADE,
  version bigint NOT NULL,
  schema_version text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  fields text NOT NULL,
  lengths text NOT NULL,
  PRIMARY KEY (session, version)
);

-- The record without its state is JSON; the columns beside it are for finding it.
CREATE TABLE store.suspensions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  invocation_id text NOT NULL UNIQUE,
  session_id text,
  signal_id text NOT NULL,
  status text NOT NULL,
  is_delivered boolean NOT NULL,
  suspended_at text COLLATE "C" NOT NULL,
  -- The revision with which it had ended and was delivered.
  ended bigint,
  summary text NOT NULL,
  frames text NOT NULL,
  completed_positions text NOT NULL
);
CREATE INDEX suspensions_by_status ON store.suspensions (status, suspended_at);
CREATE INDEX suspensions_by_signal ON store.suspensions (signal_id, status);
CREATE INDEX suspensions_by_session ON store.suspensions (session_id, suspended_at);
CREATE INDEX suspensions_undelivered ON store.suspensions (suspended_at) WHERE NOT is_delivered;
CREATE INDEX suspensions_ended ON store.suspensions (ended) WHERE ended IS NOT NULL;

-- A released lease stays for a while, so that a fence is greater than every earlier one of its key.
CREATE TABLE store.leases (
  key text PRIMARY KEY,
  fence bigint NOT NULL,
  holder text NOT NULL,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 70);

-- Runs that have not ended: what they began with, and what has happened in them.
CREATE TABLE store.runs (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text NOT NULL UNIQUE,
  session_id text,
  entries int NOT NULL,
  summary text NOT NULL,
  state text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX runs_by_session ON store.runs (session_id, number);
CREATE TABLE store.run_entries (
  run bigint NOT NULL REFERENCES store.runs ON DELETE CASCADE,
  position int NOT NULL,
  entry text NOT NULL,
  PRIMARY KEY (run, position)
);
`;
