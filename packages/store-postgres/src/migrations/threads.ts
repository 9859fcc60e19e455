/** Threads, approvals, continuations, and records of cores. `store.` stands for the schema. */
export const threads = `
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

-- The record is JSON; the columns beside it are for finding it. Times are milliseconds since the epoch.
CREATE TABLE store.approvals (
  id text PRIMARY KEY,
  seq bigint NOT NULL UNIQUE,
  agent text NOT NULL,
  session text NOT NULL,
  digest text NOT NULL,
  status text NOT NULL,
  effect text NOT NULL,
  changed_at bigint NOT NULL,
  -- When time changes it; null once it has ended.
  due_at bigint,
  -- The grant that has approved it, until it is taken.
  unused_grant text,
  record text NOT NULL
);
CREATE INDEX approvals_identical ON store.approvals (agent, session, digest, seq);
CREATE INDEX approvals_by_status ON store.approvals (status, seq);
CREATE INDEX approvals_by_effect ON store.approvals (effect, seq) WHERE effect <> 'none';
CREATE INDEX approvals_due ON store.approvals (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX approvals_open ON store.approvals (agent, session) WHERE due_at IS NOT NULL;
CREATE INDEX approvals_ended ON store.approvals (changed_at) WHERE due_at IS NULL;
CREATE INDEX approvals_ended_seq ON store.approvals (seq) WHERE due_at IS NULL;
CREATE INDEX approvals_unused ON store.approvals (unused_grant) WHERE unused_grant IS NOT NULL;
CREATE TABLE store.approval_grants (
  id text PRIMARY KEY,
  seq bigint NOT NULL,
  body text NOT NULL
);
-- One row: its lock lets one write of approvals happen at a time, so that numbers are in the order of commits.
CREATE TABLE store.approval_counter (
  one boolean PRIMARY KEY CHECK (one),
  last bigint NOT NULL,
  records bigint NOT NULL
) WITH (fillfactor = 10);

-- Continuations of shells: those with data are not used yet, those that are used stay until they would expire.
CREATE TABLE store.continuations (
  id text PRIMARY KEY,
  number bigint NOT NULL,
  owner text NOT NULL,
  expires_at double precision NOT NULL,
  is_used boolean NOT NULL,
  data text
);
CREATE INDEX continuations_by_end ON store.continuations (expires_at);
CREATE INDEX continuations_by_use ON store.continuations (is_used, owner, number);
CREATE TABLE store.keys (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- Lists of records that cores share: grants, directives.
CREATE TABLE store.records (
  name text PRIMARY KEY,
  version bigint NOT NULL,
  items text NOT NULL
);
`;
