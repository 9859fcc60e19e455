import { join } from "node:path";
import { sha256Hex } from "@harnesskit/node-kit";
import { ActionDirectiveSchema, ContinuationSchema } from "@harnesskit/protocol/openharness";
import type { PendingApproval, ShellSession } from "@harnesskit/shell-client";
import { isObject } from "@harnesskit/wire/json";
import { keepNewest } from "../agents/keep-newest.ts";
import { type CliError, unavailableError } from "../cli-error.ts";
import { readStateJson, writeStateJson } from "../state-json.ts";

/** What is kept of a conversation between two calls. */
export interface KeptConversation {
  readonly session: ShellSession;
  readonly pending: readonly PendingApproval[];
}

const maxConversations = 100;
const lastFile = "last";
const maxIdLength = 512;

const isSessionId = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxIdLength;

const isPending = (value: unknown): value is PendingApproval =>
  isObject(value) &&
  isObject(value.directive) &&
  value.directive.payload !== null &&
  ActionDirectiveSchema.safeParse(value.directive).data?.action_type === "request_approval" &&
  typeof value.digest === "string" &&
  ContinuationSchema.safeParse(value.continuation).success;

const toKept = (value: unknown, sessionId: string): KeptConversation | undefined => {
  if (!isObject(value) || !isObject(value.session) || value.session.sessionId !== sessionId) return undefined;
  const { conversationId, continuation } = value.session;
  if (conversationId !== undefined && !isSessionId(conversationId)) return undefined;
  if (continuation !== undefined && !ContinuationSchema.safeParse(continuation).success) return undefined;
  const pending = Array.isArray(value.pending) ? value.pending.filter(isPending) : [];
  return { session: value.session as unknown as ShellSession, pending };
};

const hash = (text: string): string => sha256Hex(text).slice(0, 32);

const stateFailure = (path: string, cause: unknown): CliError =>
  unavailableError(
    "state_unavailable",
    `the conversation cannot be kept in ${path}: ${cause instanceof Error ? cause.message : "unknown"}`,
    { hint: "Name another place with XDG_STATE_HOME", cause },
  );

/** The conversations of this user with one engine, in files that only this user reads: they hold continuation tokens. */
export class ShellState {
  readonly #directory: string;

  constructor(directory: string, engine: string) {
    this.#directory = join(directory, hash(engine));
  }

  async lastSessionId(): Promise<string | undefined> {
    const found = await readStateJson(this.#path(lastFile));
    return isSessionId(found) ? found : undefined;
  }

  async load(sessionId: string): Promise<KeptConversation | undefined> {
    return toKept(await readStateJson(this.#path(hash(sessionId))), sessionId);
  }

  /** Rejects with a `CliError` `state_unavailable`. */
  async save(kept: KeptConversation): Promise<void> {
    const { sessionId } = kept.session;
    try {
      await writeStateJson(this.#path(hash(sessionId)), kept);
      await writeStateJson(this.#path(lastFile), sessionId);
      await keepNewest(this.#directory, maxConversations, /^[0-9a-f]{32}\.json$/);
    } catch (cause) {
      throw stateFailure(this.#directory, cause);
    }
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.json`);
  }
}
