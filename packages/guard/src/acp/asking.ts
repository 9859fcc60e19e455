import { type AcpSettingChange, askingChanges, askingGap } from "@harnesskit/agent-hooks/acp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedSet, type JsonLine } from "@harnesskit/wire";
import { editedLine } from "../proxy/exact-line.ts";
import { objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import { type AcpPeers, codes, pass, sendError } from "./acp-peers.ts";
import { OwnRequests } from "./own-requests.ts";
import type { AcpSettings } from "./session-settings.ts";
import type { AcpSessions, OpenedSession } from "./sessions.ts";

/**
 * What is done about a session whose agent does not ask before it acts: `set` the mode in which it asks, if one is known; `warn` only; `refuse`
 * the session, also where it is not known whether the agent asks.
 */
export type AcpAskingRule = "set" | "warn" | "refuse";

/** How long an agent may take to change a setting. */
const settingMs = 10_000;

const settingText = (value: JsonValue | undefined): string => JSON.stringify(value).slice(0, 200);
const unjudgedWords = 'what it does without asking is recorded as "not judged"';

/** Has agents ask before they act: brings sessions into the mode for that when they are opened. */
export class AcpAsking {
  readonly #peers: AcpPeers;
  readonly #sessions: AcpSessions;
  readonly #settings: AcpSettings;
  readonly #rule: AcpAskingRule;
  readonly #own: OwnRequests;
  /** Updates of sessions whose openings the editor has not been answered yet. */
  readonly #held = new Map<string, JsonLine[]>();
  readonly #refused: BoundedSet<string>;
  readonly #said = new BoundedSet<string>({ maxSize: 100 });

  constructor(peers: AcpPeers, sessions: AcpSessions, settings: AcpSettings, rule: AcpAskingRule) {
    this.#peers = peers;
    this.#sessions = sessions;
    this.#settings = settings;
    this.#rule = rule;
    this.#own = new OwnRequests(peers);
    this.#refused = new BoundedSet({ maxSize: peers.limits.maxFollowed });
  }

  /** The guard did not let this session be opened. */
  isRefused(session: unknown): boolean {
    return typeof session === "string" && this.#refused.has(session);
  }

  /** An answer of the agent. False where it is not to a request of the guard. */
  noteAnswer(message: RpcMessage): boolean {
    return this.#own.noteAnswer(message);
  }

  /** An update of the agent. True where it is sent later, behind the answer that opens its session. */
  holds({ params }: RpcMessage, line: JsonLine): boolean {
    const { sessionId } = objectOf(params);
    const held = typeof sessionId === "string" ? this.#held.get(sessionId) : undefined;
    if (held === undefined || held.length >= this.#peers.limits.maxRequests) return false;
    held.push(line);
    return true;
  }

  /** A session was opened. Returns the line for the editor; undefined where that is sent later. */
  opened(opened: OpenedSession, message: RpcMessage, line: JsonLine): JsonLine | undefined {
    const { session } = opened;
    const settings = this.#settings.opened(session, message.result);
    const changes = askingChanges(this.#sessions.agent, settings);
    if (this.#rule === "refuse" && (changes === undefined || changes.length > 0)) {
      this.#peers.work.add(this.#refuse(opened, message, changes));
      return undefined;
    }
    if (this.#rule === "set" && changes !== undefined && changes.length > 0) {
      this.#held.set(session, []);
      this.#peers.work.add(this.#set(opened, changes, line));
      return undefined;
    }
    this.#tell(changes);
    this.#sessions.begin(opened, {});
    return line;
  }

  close(): void {
    this.#own.close();
  }

  async #set(opened: OpenedSession, changes: readonly AcpSettingChange[], line: JsonLine): Promise<void> {
    const { session } = opened;
    const done: AcpSettingChange[] = [];
    for (const change of changes) {
      const failure = await this.#change(session, change);
      const { setting, value } = change;
      const from = `${setting.id} ${settingText(setting.value)}`;
      if (failure === undefined) {
        done.push(change);
        this.#note(`${this.#name} started with ${from}; set to ${settingText(value)}, with which it asks`);
      } else {
        this.#note(
          `${this.#name} started with ${from}, and could not be set to ask: ${failure}; ${unjudgedWords}`,
        );
      }
    }
    if (done.length === changes.length) this.#tell([]);
    const set = Object.fromEntries(
      done.map(({ setting, value }) => [setting.id, { value, before: setting.value }]),
    );
    this.#sessions.begin(opened, done.length > 0 ? { acp_set: set } : {});
    await pass(this.#peers.editor, done.length > 0 ? editedLine(line, withValues(done)) : line);
    const held = this.#held.get(session) ?? [];
    this.#held.delete(session);
    for (const each of held) await pass(this.#peers.editor, each);
  }

  #change(sessionId: string, { setting, value }: AcpSettingChange): Promise<string | undefined> {
    this.#settings.set(sessionId, setting.id, value);
    const sent = setting.isMode
      ? this.#own.send("session/set_mode", { sessionId, modeId: value }, settingMs)
      : this.#own.send("session/set_config_option", { sessionId, configId: setting.id, value }, settingMs);
    return sent.then((failure) => {
      if (failure !== undefined) this.#settings.set(sessionId, setting.id, setting.value);
      return failure;
    });
  }

  async #refuse(
    { session }: OpenedSession,
    { id = null }: RpcMessage,
    changes: readonly AcpSettingChange[] | undefined,
  ): Promise<void> {
    this.#refused.add(session);
    const why =
      changes === undefined
        ? `it is not known whether ${this.#name} asks before it acts`
        : `${this.#name} does not ask before it acts with ${changes
            .map(
              ({ setting, value }) =>
                `${setting.id} ${settingText(setting.value)}; it would with ${settingText(value)}`,
            )
            .join(", ")}`;
    this.#note(`the session was refused: ${why}`);
    await sendError(this.#peers.editor, id, codes.refused, `harness guard: the session is refused: ${why}`);
    this.#sessions.forget(session);
    await this.#own.send("session/close", { sessionId: session }, settingMs);
  }

  /** What the user should know of the agent, once. */
  #tell(changes: readonly AcpSettingChange[] | undefined): void {
    const gap = askingGap(this.#sessions.agent);
    const more = gap === undefined ? "" : `: ${gap}`;
    if (changes === undefined) {
      this.#note(`it is not known whether ${this.#name} asks before it acts; ${unjudgedWords}${more}`);
    } else if (changes.length > 0) {
      const settings = changes.map(({ setting }) => `${setting.id} ${settingText(setting.value)}`).join(", ");
      this.#note(`${this.#name} does not ask before it acts with ${settings}; ${unjudgedWords}`);
    } else if (gap !== undefined) this.#note(`${this.#name}${more}; ${unjudgedWords}`);
  }

  get #name(): string {
    return this.#sessions.agent ?? "the agent";
  }

  #note(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#peers.note(text);
  }
}

/** The result that opens a session, with the values that were set. */
const withValues =
  (done: readonly AcpSettingChange[]) =>
  (message: RpcMessage): RpcMessage => {
    const result = objectOf(message.result);
    const changed = new Map(done.map(({ setting, value }) => [setting.id, value]));
    const { modes, configOptions } = result;
    const mode = changed.get("mode");
    const options = (Array.isArray(configOptions) ? configOptions : []).map((option) => {
      const value = changed.get(String(objectOf(option).id));
      return value === undefined ? option : { ...objectOf(option), currentValue: value };
    });
    const opened: JsonObject = {
      ...result,
      ...(mode !== undefined &&
        modes !== undefined && { modes: { ...objectOf(modes), currentModeId: mode } }),
      ...(Array.isArray(configOptions) && { configOptions: options }),
    };
    return { ...message, result: opened };
  };
