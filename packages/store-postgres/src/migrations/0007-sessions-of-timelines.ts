/** What a session was asked first, and where its actions stand. `store.` stands for the schema. */
export const sessionsOfTimelines = `
ALTER TABLE store.timeline_sessions
  ADD COLUMN title text,
  ADD COLUMN unknown bigint NOT NULL DEFAULT 0,
  ADD COLUMN running bigint NOT NULL DEFAULT 0;
`;
