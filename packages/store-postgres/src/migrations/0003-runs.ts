/** Runs that have not ended: what they began with, and what has happened in them. `store.` stands for the schema. */
export const runs = `
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
