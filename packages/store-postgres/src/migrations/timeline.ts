/** The timeline of hubs, and what AHP servers know of runs. `store.` stands for the schema. */
export const timeline = `
-- A row is JSON; the columns beside it are for finding it. Times are milliseconds since the epoch.
CREATE TABLE store.timeline (
  -- The number of the change that made it; seq is that of its last change.
  id bigint PRIMARY KEY,
  seq bigint NOT NULL UNIQUE,
  at bigint NOT NULL,
  changed_at bigint NOT NULL,
  agent text NOT NULL,
  session text NOT NULL,
  -- Digests, so that an index takes keys of any length.
  session_key text NOT NULL,
  turn text,
  tool text,
  decision text,
  rule text,
  state text NOT NULL,
  -- Null once the row has ended.
  key text,
  approval text,
  -- The store that wrote it last.
  writer text NOT NULL,
  -- What a search for text looks at, in lower case.
  words text NOT NULL,
  bytes int NOT NULL,
  body text NOT NULL,
  content text NOT NULL
);
CREATE INDEX timeline_by_session ON store.timeline (session_key, id);
CREATE INDEX timeline_failed ON store.timeline (id) WHERE state IN ('failed', 'refused', 'unknown');
CREATE INDEX timeline_running ON store.timeline (session_key) WHERE state = 'running';
CREATE INDEX timeline_by_key ON store.timeline (key, id) WHERE key IS NOT NULL;
CREATE INDEX timeline_by_approval ON store.timeline (approval, id) WHERE approval IS NOT NULL;
-- One row: its lock lets one write happen at a time, so that numbers are in the order of commits.
CREATE TABLE store.timeline_counter (
  one boolean PRIMARY KEY CHECK (one),
  last bigint NOT NULL,
  rows bigint NOT NULL,
  bytes bigint NOT NULL
) WITH (fillfactor = 10);
CREATE TABLE store.timeline_sessions (
  key text PRIMARY KEY,
  agent text NOT NULL,
  session text NOT NULL,
  workspace text,
  first_seen bigint NOT NULL,
  last_seen bigint NOT NULL,
  actions bigint NOT NULL,
  failed bigint NOT NULL,
  refused bigint NOT NULL,
  unjudged bigint NOT NULL,
  waiting bigint NOT NULL,
  -- What the session was asked first, and where its actions stand.
  title text,
  unknown bigint NOT NULL DEFAULT 0,
  running bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE TABLE store.timeline_rules (
  key text PRIMARY KEY,
  kind text NOT NULL,
  name text NOT NULL,
  decision text NOT NULL,
  hits bigint NOT NULL,
  last_hit bigint NOT NULL
) WITH (fillfactor = 70);
-- The stores that are open: those whose time is over are gone.
CREATE TABLE store.timeline_writers (
  id text PRIMARY KEY,
  until timestamptz NOT NULL
);
-- What a search looks at, apart from the rows: a search without a hit reads it and no row.
CREATE TABLE store.timeline_words (
  id bigint PRIMARY KEY,
  words text NOT NULL
) WITH (fillfactor = 80);
CREATE FUNCTION store.timeline_words_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO store.timeline_words (id, words) SELECT id, words FROM after;
  RETURN NULL;
END $$;
CREATE FUNCTION store.timeline_words_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE store.timeline_words w SET words = a.words FROM after a WHERE w.id = a.id AND w.words <> a.words;
  RETURN NULL;
END $$;
CREATE FUNCTION store.timeline_words_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM store.timeline_words WHERE id IN (SELECT id FROM before);
  RETURN NULL;
END $$;
CREATE TRIGGER timeline_words_added AFTER INSERT ON store.timeline
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION store.timeline_words_added();
CREATE TRIGGER timeline_words_changed AFTER UPDATE ON store.timeline
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION store.timeline_words_changed();
CREATE TRIGGER timeline_words_removed AFTER DELETE ON store.timeline
  REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION store.timeline_words_removed();

-- Records of AHP servers in the order in which they were accepted.
CREATE TABLE store.run_states (
  name text PRIMARY KEY,
  -- Grows with each server that begins to write: one that another one has followed is refused.
  epoch bigint NOT NULL,
  last bigint NOT NULL,
  -- The opened store that writes.
  writer text,
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
CREATE TABLE store.run_state_records (
  name text NOT NULL REFERENCES store.run_states ON DELETE CASCADE,
  number bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (name, number)
);
`;
