/** What AHP servers know of runs: records in the order in which they were accepted. `store.` stands for the schema. */
export const stateOfRuns = `
CREATE TABLE store.run_states (
  name text PRIMARY KEY,
  -- Grows with each server that begins to write: one that another one has followed is refused.
  epoch bigint NOT NULL,
  last bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE store.run_state_records (
  name text NOT NULL REFERENCES store.run_states ON DELETE CASCADE,
  number bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (name, number)
);
`;
