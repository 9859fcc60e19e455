import { createHash } from "node:crypto";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";
import { ActionDirectiveSchema, ContinuationSchema } from "@harnesskit/protocol/openharness";
import type { PendingApproval, ShellSession } from "@harnesskit/shell-client";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";

/** What is kept of a conversation between two calls. */
export interface KeptConversation {
  readonly session: ShellSession;
  /** Questions that wait for an answer. */
  readonly pending: readonly PendingApproval[];
}

/** Conversations of one engine that are kept; who begins another one loses the oldest. */
const maxConversations = 100;
const maxFileBytes = 4 * 1024 * 1024;
const lastFile = "last";
/** Of what a client takes. */
const maxIdLength = 512;

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isId = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxIdLength;

/** Whether it has the parts of a question. Whether they belong together is looked at when it is answered. */
const isPending = (value: unknown): value is PendingApproval =>
  isFields(value) &&
  ActionDirectiveSchema.safeParse(value.directive).data?.action_type === "request_approval" &&
  typeof value.digest === "string" &&
  ContinuationSchema.safeParse(value.continuation).success;

/** What a file holds, where it is of this session. */
const toKept = (value: unknown, sessionId: string): KeptConversation | undefined => {
  if (!isFields(value) || !isFields(value.session) || value.session.sessionId !== sessionId) return undefined;
  const { conversationId, continuation } = value.session;
  if (conversationId !== undefined && !isId(conversationId)) return undefined;
  if (continuation !== undefined && !ContinuationSchema.safeParse(continuation).success) return undefined;
  const pending = Array.isArray(value.pending) ? value.pending.filter(isPending) : [];
  return { session: value.session as unknown as ShellSession, pending };
};

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

const failure = (path: string, cause: unknown): CliError =>
  new CliError(
    "state_unavailable",
    `the conversation cannot be kept in ${oneLine(path, 500)}: ${cause instanceof Error ? oneLine(cause.message, 300) : "unknown"}`,
    { exitCode: ExitCode.unavailable, hint: "Name another place with XDG_STATE_HOME", cause },
  );

/** The conversations of this user with one engine, in files that only this user reads: they hold continuation tokens. */
export class ShellState {
  readonly #directory: string;

  constructor(directory: string, engine: string) {
    this.#directory = join(directory, hash(engine));
  }

  /** The session of the last call. */
  async lastSessionId(): Promise<string | undefined> {
    const found = await this.#read(lastFile);
    return isId(found) ? found : undefined;
  }

  /** What is kept of a session; what cannot be read is as good as nothing. */
  async load(sessionId: string): Promise<KeptConversation | undefined> {
    return toKept(await this.#read(hash(sessionId)), sessionId);
  }

  /** Rejects with a `CliError` `state_unavailable`. */
  async save(kept: KeptConversation): Promise<void> {
    const { sessionId } = kept.session;
    try {
      await makeDirectory(this.#directory);
      await this.#write(hash(sessionId), kept);
      await this.#write(lastFile, sessionId);
      await this.#prune();
    } catch (cause) {
      throw failure(this.#directory, cause);
    }
  }

  async #read(name: string): Promise<unknown> {
    try {
      const path = join(this.#directory, `${name}.json`);
      return JSON.parse((await readOwnFile(path, { maxBytes: maxFileBytes })).toString("utf8"));
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all: another call may read it at any time. */
  #write(name: string, value: unknown): Promise<void> {
    return writeFileAtomic(join(this.#directory, `${name}.json`), `${JSON.stringify(value)}\n`);
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => /^[0-9a-f]{32}\.json$/.test(name));
    if (names.length <= maxConversations) return;
    const aged = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#directory, name);
        return { path, usedAtMs: (await lstat(path).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
    );
    aged.sort((a, b) => b.usedAtMs - a.usedAtMs);
    for (const { path } of aged.slice(maxConversations)) await rm(path, { force: true });
  }
}
