/** Conversations, threads and leases. `store.` stands for the schema. */
export const first = `
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

CREATE TABLE store.threads (
  thread_id text PRIMARY KEY,
  updated double precision NOT NULL,
  body text NOT NULL,
  last_seq bigint NOT NULL DEFAULT 0,
  lease_epoch bigint NOT NULL DEFAULT 0,
  lease_holder text NOT NULL DEFAULT '',
  lease_until timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 70);
CREATE INDEX threads_by_use ON store.threads (updated);
CREATE TABLE store.thread_events (
  thread_id text NOT NULL REFERENCES store.threads ON DELETE CASCADE,
  seq bigint NOT NULL,
  bytes int NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (thread_id, seq)
);
CREATE TABLE store.thread_artifacts (
  thread_id text NOT NULL REFERENCES store.threads ON DELETE CASCADE,
  name text NOT NULL,
  part int NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (thread_id, name, part)
);
CREATE TABLE store.grants (
  grant_id text PRIMARY KEY,
  digest text NOT NULL,
  scope text NOT NULL,
  thread_id text NOT NULL,
  body text NOT NULL
);
CREATE INDEX grants_by_digest ON store.grants (digest);
CREATE INDEX grants_by_thread ON store.grants (thread_id) WHERE scope = 'thread';
CREATE TABLE store.requests (
  key_hash text PRIMARY KEY,
  thread_id text NOT NULL,
  request_digest text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX requests_by_age ON store.requests (at);
CREATE TABLE store.deleted_threads (
  thread_id text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX deleted_threads_by_age ON store.deleted_threads (at);
`;
