import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";

const supervisor = fileURLToPath(new URL("../../scripts/lib/postgres-supervisor.mjs", import.meta.url));

/** The server of HARNESS_TEST_POSTGRES, or one of this run, whose commits wait for the disk. */
export const startServer = async () => {
  const given = process.env.HARNESS_TEST_POSTGRES;
  if (given) return { url: given, stop: async () => {} };
  const child = spawn(process.execPath, [supervisor, "--sync"], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const stop = async () => {
    const exited = once(child, "exit");
    child.stdin.end();
    await exited;
  };
  return { url: JSON.parse(line).url, stop };
};

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
