import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { ActionJudge } from "../proxy/action-judge.ts";
import { idKey, objectOf, type RpcMessage } from "../proxy/rpc-message.ts";

const opening = new Set<unknown>(["session/new", "session/load", "session/resume", "session/fork"]);

const filledText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

interface Opening {
  readonly cwd: string;
  readonly session: string | undefined;
}

/** A session that an agent has opened, and its directory. */
export interface OpenedSession {
  readonly session: string;
  readonly cwd: string;
}

/** The sessions of an agent and their directories, read from what passes. */
export class AcpSessions {
  readonly #judge: ActionJudge;
  readonly #opening: BoundedMap<string, Opening>;
  readonly #workspaces: BoundedMap<string, string>;
  #initializeId: string | undefined;
  /** The name in `agentInfo`. */
  agent: string | undefined;

  constructor(judge: ActionJudge, maxSize: number) {
    this.#judge = judge;
    this.#opening = new BoundedMap({ maxSize });
    this.#workspaces = new BoundedMap({ maxSize });
  }

  workspaceOf(session: string): string | undefined {
    return this.#workspaces.get(session);
  }

  /** A message of the editor. */
  noteRequest({ id, method, params }: RpcMessage): void {
    const { cwd, sessionId } = objectOf(params);
    if (method === "initialize") this.#initializeId = idKey(id);
    else if (opening.has(method) && filledText(cwd) !== undefined) {
      const session =
        method === "session/new" || method === "session/fork" ? undefined : filledText(sessionId);
      this.#opening.set(idKey(id), { cwd: cwd as string, session });
      // A session that is loaded speaks before its answer.
      if (session !== undefined) this.#workspaces.set(session, cwd as string);
    } else if (method === "session/close" || method === "session/delete") {
      const session = filledText(sessionId);
      if (session !== undefined && this.#workspaces.delete(session)) this.#end(session);
    }
  }

  /** An answer of the agent: the session that it opens, if it opens one. */
  noteAnswer({ id, result, error }: RpcMessage): OpenedSession | undefined {
    const key = idKey(id);
    if (key === this.#initializeId) {
      this.#initializeId = undefined;
      this.agent = filledText(objectOf(objectOf(result).agentInfo).name)?.slice(0, 100);
      return undefined;
    }
    const opened = this.#opening.get(key);
    if (opened === undefined) return undefined;
    this.#opening.delete(key);
    const session = opened.session ?? filledText(objectOf(result).sessionId);
    if (session === undefined || error !== undefined) return undefined;
    this.#workspaces.set(session, opened.cwd);
    return { session, cwd: opened.cwd };
  }

  /** A session begins, with what its begin is reported with. */
  begin({ session, cwd }: OpenedSession, more: JsonObject): void {
    this.#judge.note("session_start", session, { ...this.#about(cwd), ...more });
  }

  /** A session that was opened did not begin. */
  forget(session: string): void {
    this.#workspaces.delete(session);
  }

  /** The proxy ends. */
  close(): void {
    for (const session of this.#workspaces.keys()) this.#end(session);
    this.#workspaces.clear();
  }

  #end(session: string): void {
    this.#judge.note("session_end", session, this.#about(undefined));
  }

  #about(workspace: string | undefined): JsonObject {
    return defined({
      host: "acp",
      acp_agent: this.agent,
      workspace,
    });
  }
}
