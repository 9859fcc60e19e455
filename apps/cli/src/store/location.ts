import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { shellWord } from "@harnesskit/wire";
import { usageError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";
import { stateDirectory } from "../workspace-directory.ts";

/** Where conversations and threads are kept. */
export type StoreLocation =
  | { readonly kind: "sqlite"; readonly file: string }
  | {
      readonly kind: "postgres";
      /** A secret. */
      readonly url: string;
      readonly schema: string | undefined;
    };

/** What `store copy` reads: conversations in a file, the threads and conversations of a directory, or the state of a hub. */
export type CopySource =
  | Extract<StoreLocation, { kind: "sqlite" }>
  | { readonly kind: "files" | "hub"; readonly directory: string };

/** The environment variable that holds the URL of `--store postgres:`. */
const urlVariable = "HARNESS_STORE";

/** Schemes of URLs have no case. */
const isPostgres = (text: string): boolean => /^postgres(?:ql)?:/i.test(text);

const readUrl = (text: string, where: string): URL => {
  try {
    const url = new URL(text);
    // pg reads more than one host, which `URL` does not; nothing here needs it.
    if (/^postgres(?:ql)?:$/.test(url.protocol) && text.includes("://")) return url;
  } catch {
    // The message of `URL` may repeat the password.
  }
  throw usageError(`${where} is not a URL of PostgreSQL`, "Write it as postgres://USER@HOST:PORT/DATABASE");
};

const postgres = (text: string, env: NodeJS.ProcessEnv): StoreLocation => {
  const isNamed = /^postgres(?:ql)?:$/i.test(text);
  const { [urlVariable]: named = "" } = env;
  if (isNamed && named === "") {
    const example = `${urlVariable}=postgres://USER:PASSWORD@HOST/DATABASE`;
    throw usageError(
      `postgres: needs the URL in ${urlVariable}, which is not set`,
      `For example: ${example}`,
    );
  }
  const url = readUrl(isNamed ? named : text, isNamed ? urlVariable : "--store");
  const hasPassword =
    url.password !== "" || [...url.searchParams.keys()].some((name) => /pass(?:word|phrase)/i.test(name));
  if (!isNamed && hasPassword) {
    // Every user of the machine can read the arguments of a process.
    throw usageError(
      "A URL here must not contain a password: other users can read the arguments of a process",
      `Put it into ${urlVariable} and write postgres:, or the password into PGPASSWORD or ~/.pgpass`,
    );
  }
  const schema = url.searchParams.get("schema") ?? undefined;
  url.searchParams.delete("schema");
  return { kind: "postgres", url: url.href.replace(/^postgres:/, "postgresql:"), schema };
};

/**
 * Reads a place: `postgres:`, `postgres://…`, `sqlite:FILE`, or a file. Throws a usage error, also for a password in
 * it; no error repeats the URL.
 */
export const toLocation = (text: string, env: NodeJS.ProcessEnv = io().env): StoreLocation => {
  if (isPostgres(text)) return postgres(text, env);
  if (text === "" || text === "sqlite:") throw usageError("--store names no file");
  // What looks like a URL is no file: an error or a file's name would repeat its password.
  if (/^\s*[a-z][a-z0-9+.-]+:/i.test(text) && !text.startsWith("sqlite:")) {
    throw usageError(
      `--store: ${text.slice(0, text.indexOf(":") + 1)} is not a kind of store`,
      "Write FILE, sqlite:FILE, postgres: or postgres://USER@HOST/DATABASE",
    );
  }
  return { kind: "sqlite", file: fromHere(text.startsWith("sqlite:") ? text.slice("sqlite:".length) : text) };
};

/** Reads what `store copy` copies: a file, `files:DIR` or `hub:DIR`. Throws as {@link toLocation} does, also for a database. */
export const toCopySource = (text: string): CopySource => {
  for (const kind of ["files", "hub"] as const) {
    const path = text.slice(`${kind}:`.length);
    if (path !== "" && text.startsWith(`${kind}:`)) return { kind, directory: fromHere(path) };
  }
  const location = toLocation(text);
  if (location.kind !== "postgres") return location;
  throw usageError("FROM must be sqlite:FILE, files:DIR or hub:DIR", "To copy a database: pg_dump");
};

/** The place of conversations: `--store`, or this user's file for the workspace. */
export const conversationsIn = ({ store }: { readonly store?: string }, workspace: string): StoreLocation =>
  store === undefined ? conversationsOf(workspace) : toLocation(store);

const realPath = (directory: string): string => {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
};

/**
 * This user's conversations in a directory. They lie outside of it: a conversation that came with a directory could say
 * that a human has allowed a call, and the call would run.
 */
export const conversationsOf = (directory: string) => {
  const path = realPath(directory);
  // A name of a directory may be as long as one of a file may be.
  const name = basename(path)
    .slice(0, 64)
    .replace(/[^\w.-]/g, "_");
  const id = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return { kind: "sqlite" as const, file: stateDirectory(`chats/${name}-${id}.sqlite`) };
};

/** A place as it may be shown: without user, password and options. */
export const describeLocation = (location: CopySource | StoreLocation): string => {
  if (location.kind === "sqlite") return `sqlite:${shellWord(location.file)}`;
  if (location.kind !== "postgres") return `${location.kind}:${shellWord(location.directory)}`;
  const { host, pathname } = new URL(location.url);
  const schema = location.schema === undefined ? "" : `?schema=${location.schema}`;
  return `postgres://${host}${pathname}${schema}`;
};

/** A name of ours in camel case as people read it. */
export const asWords = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
