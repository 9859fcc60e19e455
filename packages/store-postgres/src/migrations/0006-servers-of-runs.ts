/** Which server writes the state of runs, and when it did so last. `store.` stands for the schema. */
export const serversOfRuns = `
ALTER TABLE store.run_states
  -- The opened store that writes. Null after a program that knows no such column.
  ADD COLUMN writer text,
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
`;
