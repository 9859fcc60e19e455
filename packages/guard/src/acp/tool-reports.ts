import { randomUUID } from "node:crypto";
import { type AcpNames, type AcpToolCall, acpAction, acpNames } from "@harnesskit/agent-hooks/acp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap, BoundedSet, type JsonLine } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { editedLine } from "../proxy/exact-line.ts";
import { idKey, objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import { type ActionOutcome, boundedResult, type ProxiedAction } from "../proxy/rulings.ts";
import type { AcpPeers } from "./acp-peers.ts";
import { textContent } from "./editor-notes.ts";
import { reportedDifference } from "./reported-difference.ts";
import type { AcpSessions } from "./sessions.ts";

/** A tool call that an agent has begun. */
interface RunningCall {
  readonly call: AcpToolCall & JsonObject;
  readonly session: string;
  readonly startedMs: number;
  /** The action that a permission was given for. */
  readonly action?: ProxiedAction;
  /** What it named when the permission was given. */
  readonly allowed?: AcpNames;
  /** What the agent has reported since, where that names another command or file. */
  readonly other?: { readonly action: ProxiedAction; readonly named: string };
}

const unaskedWords: Readonly<Record<string, string>> = {
  run: "ran a command",
  write: "wrote a file",
  edit: "changed a file",
  read: "read a file",
  search: "searched",
  fetch: "reached the network",
  mcp: "called a tool of an MCP server",
};

const objectsOf = (value: JsonValue | undefined): readonly JsonObject[] =>
  (Array.isArray(value) ? value : []).map(objectOf);

/** The files that a call changes, or the terminals in which it runs. */
const placesOf = ({ kind, content, locations }: AcpToolCall): readonly JsonValue[] => {
  const contents = objectsOf(content);
  const terminals = contents.filter(({ type }) => type === "terminal").map(({ terminalId }) => terminalId);
  if (kind !== "edit") return terminals.filter((id) => id !== undefined);
  const changed = contents.filter(({ type }) => type === "diff").map(({ path }) => path);
  const paths = [...changed, ...objectsOf(locations).map(({ path }) => path)];
  return paths.filter((path) => path !== undefined);
};

/** The exit code of a command that an agent calls completed: as opencode, Copilot CLI and codex-acp say it. */
const exitCodeOf = ({ rawOutput, _meta }: JsonObject): number | undefined => {
  const { metadata, exit_code: exit, contents } = objectOf(rawOutput);
  const terminal = objectOf(objectOf(_meta).terminal_exit).exit_code;
  const shown = objectsOf(contents).map(({ exitCode }) => exitCode);
  return [objectOf(metadata).exit, exit, terminal, ...shown].find((code) => typeof code === "number");
};

/** An update of a refused call, with the reason behind what the agent says. */
const withReason =
  (reason: string) =>
  (message: RpcMessage): RpcMessage => {
    const params = objectOf(message.params);
    const update = objectOf(params.update);
    const content = [...objectsOf(update.content), textContent(`harness guard: ${reason}`)];
    return { ...message, params: { ...params, update: { ...update, content } } };
  };

const outcomes: ReadonlySet<unknown> = new Set(["completed", "failed"]);

/** Records what an agent reports of its tool calls: of those that it had to ask for, and of those that it made by itself. */
export class AcpToolReports {
  readonly #peers: AcpPeers;
  readonly #sessions: AcpSessions;
  readonly #running: BoundedMap<string, RunningCall>;
  readonly #ended: BoundedSet<string>;
  /** Why calls were refused. */
  readonly #reasons: BoundedMap<string, string>;
  /** Files and terminals of requests that were judged: a call that only reports them is judged, too. */
  readonly #carriedOut: BoundedMap<string, string>;
  /** Kinds of actions that the user was notified about. */
  readonly #told = new Set<string>();

  constructor(peers: AcpPeers, sessions: AcpSessions) {
    this.#peers = peers;
    this.#sessions = sessions;
    const maxSize = peers.limits.maxFollowed;
    this.#running = new BoundedMap({ maxSize });
    this.#ended = new BoundedSet({ maxSize });
    this.#reasons = new BoundedMap({ maxSize });
    this.#carriedOut = new BoundedMap({ maxSize });
  }

  /** Whether the editor knows the call. */
  isKnown(session: string, toolCallId: string): boolean {
    return this.#running.has(idKey([session, toolCallId]));
  }

  /** A permission was given; the outcome follows in an update. */
  allow(session: string, toolCall: AcpToolCall, action: ProxiedAction): void {
    const key = idKey([session, toolCall.toolCallId]);
    this.#ended.delete(key);
    this.#reasons.delete(key);
    const { call } = this.#running.get(key) ?? {};
    const kind = toolCall.kind ?? call?.kind;
    this.#running.set(key, {
      call: { ...call, ...(toolCall as AcpToolCall & JsonObject) },
      session,
      startedMs: this.#peers.clock.elapsedMs(),
      action,
      allowed: acpNames(defined({ ...toolCall, kind }), this.#sessions.agent),
    });
  }

  /** A permission was refused: what follows of the call is not a call of its own, and the editor shows the reason with it. */
  refuse(session: string, toolCallId: string, reason?: string): void {
    const key = idKey([session, toolCallId]);
    this.#running.delete(key);
    this.#ended.add(key);
    if (reason !== undefined) this.#reasons.set(key, reason);
  }

  /** A request that was judged is carried out: a write of this file, or a command in this terminal. */
  carriedOut(session: string, place: unknown): void {
    this.#carriedOut.set(idKey([session, place]), session);
  }

  /** A mode or an option that the agent has changed by itself. */
  reportSetting(session: string, tool: string, args: JsonObject): void {
    const metadata = { ...this.#about(session), acp_method: "session/update", reported: true };
    const action = { tool, kind: "other", callId: randomUUID(), arguments: args, session, metadata };
    this.#peers.judge.report(action, { outcome: "success", result: null }, 0);
  }

  /** A `session/update`, and its line. Returns the line for the editor. */
  observe({ params }: RpcMessage, line: JsonLine): JsonLine {
    const { sessionId, update } = objectOf(params);
    const { sessionUpdate, ...call } = objectOf(update);
    const { toolCallId } = call;
    if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") return line;
    if (typeof sessionId !== "string" || typeof toolCallId !== "string") return line;
    const key = idKey([sessionId, toolCallId]);
    const reason = this.#reasons.get(key);
    // The agent's words would stand in the place of the reason.
    if (reason !== undefined && Array.isArray(call.content)) return editedLine(line, withReason(reason));
    if (this.#ended.has(key)) return line;
    const before = this.#running.get(key);
    const given = Object.fromEntries(Object.entries(call).filter(([, value]) => value !== null));
    const merged = { ...before?.call, ...given, toolCallId };
    const running = {
      startedMs: this.#peers.clock.elapsedMs(),
      ...before,
      session: sessionId,
      call: merged,
      other:
        before?.other ??
        this.#otherOf(key, before, { ...given, ...defined({ kind: merged.kind }), toolCallId }),
    } as RunningCall;
    if (!outcomes.has(call.status)) {
      this.#running.set(key, running);
      return line;
    }
    this.#end(key, running, this.#outcomeOf(running, call.status));
    return line;
  }

  /** A turn has ended: what has no outcome by now gets none. */
  turnEnded(session: string): void {
    for (const [key, owner] of this.#carriedOut) if (owner === session) this.#carriedOut.delete(key);
    for (const [key, running] of [...this.#running]) {
      if (running.session !== session) continue;
      this.#end(key, running, { outcome: "unknown", error: "the turn ended without an outcome" });
    }
  }

  close(): void {
    for (const [key, running] of [...this.#running]) {
      this.#end(key, running, { outcome: "unknown", error: "the proxy ended before the call" });
    }
  }

  #outcomeOf({ call }: RunningCall, status: unknown): ActionOutcome {
    const { rawOutput, content } = call;
    const result = boundedResult(rawOutput ?? content ?? null, this.#peers.limits.maxReportBytes);
    if (status !== "completed") {
      return { outcome: "error", error: "the agent reports that the call failed", result };
    }
    const exit = exitCodeOf(call);
    return exit === undefined || exit === 0
      ? { outcome: "success", result }
      : { outcome: "error", error: `exit code ${exit}`, result };
  }

  #end(key: string, running: RunningCall, outcome: ActionOutcome): void {
    this.#running.delete(key);
    this.#ended.add(key);
    const { other } = running;
    if (running.action !== undefined && other !== undefined) {
      const error = `the agent reports that it did something else than was allowed: ${other.named.slice(0, 200)}`;
      this.#report(running, running.action, { outcome: "unknown", error });
      this.#report(running, other.action, outcome);
      return;
    }
    // The request that carried it out has a row of its own.
    if (running.action === undefined && this.#isCarriedOut(running)) return;
    const action = running.action ?? this.#reported(key, running);
    if (running.action === undefined) this.#tell(action);
    this.#report(running, action, outcome);
  }

  #report({ startedMs }: RunningCall, action: ProxiedAction, outcome: ActionOutcome): void {
    const { judge, clock } = this.#peers;
    judge.report(action, outcome, clock.elapsedMs() - startedMs);
  }

  /** The action that an update of an allowed call names, where that is another one. */
  #otherOf(
    key: string,
    before: RunningCall | undefined,
    call: AcpToolCall & JsonObject,
  ): RunningCall["other"] {
    if (before?.allowed === undefined) return undefined;
    const { agent } = this.#sessions;
    const { allowed, session } = before;
    const workspace = this.#sessions.workspaceOf(session);
    const named = reportedDifference(allowed, acpNames(call, agent), workspace);
    if (named === undefined) return undefined;
    const name = agent ?? "the agent";
    if (!this.#told.has("other")) {
      this.#told.add("other");
      const shown = named.slice(0, 200);
      this.#peers.note(`not judged: ${name} reports something else than it was allowed to do: ${shown}`);
    }
    return { action: { ...this.#reported(key, { ...before, call }), callId: randomUUID() }, named };
  }

  /** All that a call names was written or run by requests that were judged. */
  #isCarriedOut({ call, session }: RunningCall): boolean {
    const places = placesOf(call).map((place) => idKey([session, place]));
    return places.length > 0 && places.every((place) => this.#carriedOut.has(place));
  }

  /** The user learns of the first action of each kind that was not judged. */
  #tell({ kind, arguments: args }: ProxiedAction): void {
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    const what = args.command ?? args.path ?? args.url ?? args.pattern;
    const shown = typeof what === "string" ? `: ${what.slice(0, 200)}` : "";
    const name = this.#sessions.agent ?? "the agent";
    const done = unaskedWords[kind] ?? "did something";
    this.#peers.note(
      `not judged: ${name} ${done} without asking${shown}. The hub's timeline shows all of these`,
    );
  }

  #about(session: string): JsonObject {
    const workspace = this.#sessions.workspaceOf(session);
    const { agent } = this.#sessions;
    return defined({ host: "acp", acp_agent: agent, workspace });
  }

  /** A call that was made without a question. */
  #reported(key: string, { call, session }: RunningCall): ProxiedAction {
    const workspace = this.#sessions.workspaceOf(session);
    const { agent } = this.#sessions;
    const { tool, kind, arguments: args, server } = acpAction(call, { workspace, agent });
    const title = typeof call.title === "string" ? { title: call.title.slice(0, 1000) } : {};
    return {
      tool,
      kind,
      callId: key.slice(0, 256),
      arguments: objectOf(args),
      session,
      details: server === undefined ? undefined : { server },
      metadata: { ...this.#about(session), acp_method: "session/update", reported: true, ...title },
    };
  }
}
