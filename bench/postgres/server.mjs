import pg from "pg";

let schemas = 0;

/** Runs work with an empty schema of its own: `{ url, schema, sql }`. */
export const withSchema = async (url, work) => {
  const schema = `bench_${process.pid}_${++schemas}`;
  const client = new pg.Client(url);
  await client.connect();
  const sql = async (text, ...values) =>
    (await client.query(text.replaceAll("store.", `${schema}.`), values)).rows;
  try {
    return await work({ url, schema, sql });
  } finally {
    await sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  }
};
