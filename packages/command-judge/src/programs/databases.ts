import { hasMark } from "../marks.ts";
import type { Call, Family, Spec } from "./spec.ts";

const destroys =
  /\b(?:drop\s+(?:table|database|schema|index|view|role|user|column|collection)|truncate\b|flush(?:all|db)|dropDatabase|\.drop\s*\(|deleteMany\s*\(\s*\{\s*\}|deleteMany\s*\(\s*\))/i;

/** `DELETE` or `UPDATE` without a condition, or with one that always holds. */
const deletesAll =
  /\b(?:delete\s+from\s+[\w."`]+|update\s+[\w."`]+\s+set\s+[^;]*?)\s*(?:;|$|where\s+(?:1\s*=\s*1|true)\b)/i;

const privileges = /\b(?:superuser|grant\s+all|create\s+(?:role|user)|alter\s+(?:role|user))\b/i;

/** Judges the statements that a database is given, and what they run of the shell. */
const statements = (call: Call): void => {
  const { args, stdin = "", walk, name } = call;
  for (const text of [...args, ...(hasMark(stdin) ? [] : [stdin])]) {
    const plain = text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, " ").trim();
    if (
      destroys.test(plain) ||
      (!/\bwhere\b/i.test(plain.replace(/where\s+(?:1\s*=\s*1|true)/gi, "")) && deletesAll.test(plain))
    )
      walk.report("destructive", "destroys-data", `${name} deletes data`);
    if (privileges.test(plain)) walk.report("privilege", "raises-privilege", `${name} changes rights`);
  }
};

const database: Spec = {
  style: "words",
  network: true,
  does: "unknown unknown-statements runs statements that are not followed",
  judge: statements,
};

/** Clients of databases. Their statements can read and write files and run programs, so none of them is harmless. */
export const databases: Family = {
  "psql mysql mariadb sqlite3 duckdb mongosh mongo clickhouse-client cqlsh sqlcmd redis-cli valkey-cli":
    database,
  "dropdb dropuser": { ...database, does: "destructive destroys-data deletes a database" },
  "pg_dump mysqldump mongodump pg_restore createdb createuser": {
    ...database,
    does: "unknown unknown-statements copies or makes a database",
  },
};
