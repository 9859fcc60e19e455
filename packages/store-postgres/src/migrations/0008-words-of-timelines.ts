/**
 * What a search looks at, apart from the rows: a search without a hit reads it and no row. Triggers fill it, so that programs of earlier
 * versions do, too. `store.` stands for the schema.
 */
export const wordsOfTimelines = `
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
INSERT INTO store.timeline_words (id, words) SELECT id, words FROM store.timeline;
`;
