import { join } from "node:path";
import { sha256Hex } from "@harnesskit/node-kit";
import type { PendingApproval, ShellSession } from "@harnesskit/shell-client";
import { type CliError, unavailableError } from "../cli-error.ts";
import { keepNewest, readStateJson, writeStateJson } from "../state-files.ts";

/** What is kept of a conversation between two calls. */
export interface KeptConversation {
  readonly session: ShellSession;
  readonly pending: readonly PendingApproval[];
}

const maxConversations = 100;
const lastFile = "last";
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

  /** @param engine what tells it from others: where its conversations are kept, or its URL */
  constructor(directory: string, engine: string) {
    this.#directory = join(directory, hash(engine));
  }

  async lastSessionId(): Promise<string | undefined> {
    const found = await readStateJson(this.#path(lastFile));
    return typeof found === "string" ? found : undefined;
  }

  async load(sessionId: string): Promise<KeptConversation | undefined> {
    const found = (await readStateJson(this.#path(hash(sessionId)))) as KeptConversation | undefined;
    return found?.session?.sessionId === sessionId ? found : undefined;
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
