import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap, displayText, HarnessError, type JsonLine } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { within } from "@harnesskit/wire/time";
import { editedLine } from "../proxy/exact-line.ts";
import { objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import type { PinState, ToolDeclaration, ToolPins } from "./tool-pins.ts";

/** What is known of a tool that the server declares. */
export interface ListedTool {
  readonly state: PinState;
  readonly annotations: JsonObject;
}

export interface ToolListOptions {
  readonly pins: ToolPins;
  readonly send: (message: RpcMessage) => Promise<void>;
  /** A tool is not offered, in a line. */
  readonly onNote: (line: string) => void;
  /** Tools wait to be accepted. Called each time that they are met. */
  readonly onWaiting: () => void;
}

const maxTools = 1024;
const maxPages = 64;
const listTimeoutMs = 30_000;

const why: Readonly<Record<Exclude<PinState, "accepted">, string>> = {
  changed: "its declaration has changed since it was accepted",
  new: "it is new since the server's tools were accepted",
  unusable: "its declaration is too large, or cannot be compared",
};

const isDeclaration = (value: unknown): value is ToolDeclaration => typeof objectOf(value).name === "string";

/** The tools that a server declares, compared with those that were accepted. */
export class ToolList {
  readonly #options: ToolListOptions;
  readonly #prefix = `harness-guard-${randomUUID()}-`;
  readonly #asked = new Map<string, (message: RpcMessage) => void>();
  readonly #noted = new BoundedMap<string, true>({ maxSize: maxTools });
  #tools = new Map<string, ListedTool>();
  #reading: Promise<void> | undefined;
  #count = 0;

  constructor(options: ToolListOptions) {
    this.#options = options;
  }

  /** The server says that its tools have changed. */
  forget(): void {
    this.#tools = new Map();
  }

  /** The server has ended: it answers no more. */
  close(): void {
    for (const [id, take] of this.#asked) take({ id, error: {} });
  }

  /** Takes the answer to a request of this list. False for any other message. */
  takeAnswer(message: RpcMessage): boolean {
    const { id } = message;
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return false;
    this.#asked.get(id)?.(message);
    return true;
  }

  /** A `tools/list` result of the client's, without the tools that may not be offered: as it came, if it has none. Rejects with a `PinsError`. */
  async filter(line: JsonLine): Promise<JsonLine> {
    const { result } = line.value as RpcMessage;
    const { tools } = objectOf(result);
    const offered = new Set<unknown>(await this.#read(objectOf(result)));
    if (Array.isArray(tools) && tools.every((tool) => offered.has(tool))) return line;
    const kept = Array.isArray(tools) ? tools.map((tool) => offered.has(tool)) : [];
    return editedLine(line, (message) => {
      const listed = objectOf(message.result);
      const all = Array.isArray(listed.tools) ? listed.tools : [];
      return { ...message, result: { ...listed, tools: all.filter((_, at) => kept[at]) } };
    });
  }

  /**
   * The tool, read from the server where it is not known or waits. `meta` is that of the client's request, for servers that want it with
   * each. Undefined for a tool that the server does not declare. Rejects where the list cannot be read.
   */
  async find(name: string, meta: JsonObject): Promise<ListedTool | undefined> {
    if (this.#tools.get(name)?.state !== "accepted") {
      this.#reading ??= this.#readAll(meta).finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#tools.get(name);
  }

  /** Why a tool cannot be called; undefined for one that can. */
  static refusalOf(tool: ListedTool | undefined): string | undefined {
    if (tool === undefined) return "the server does not declare this tool";
    if (tool.state === "accepted") return undefined;
    return `${why[tool.state]}; ${tool.state === "unusable" ? "it is not offered" : "the user has to review it in the inbox, or with harness guard tools"}`;
  }

  async #readAll(meta: JsonObject): Promise<void> {
    const carried = Object.entries(meta).filter(([key]) => key.startsWith("io.modelcontextprotocol/"));
    const _meta = carried.length === 0 ? {} : { _meta: Object.fromEntries(carried) };
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const answer = await this.#ask(defined({ ..._meta, cursor }));
      if (answer.error !== undefined) {
        throw new HarnessError("tool_list_failed", "the server does not list its tools");
      }
      const result = objectOf(answer.result);
      await this.#read(result);
      const { nextCursor: next } = result;
      if (typeof next !== "string" || next === "" || seen.has(next)) return;
      seen.add(next);
      cursor = next;
    }
  }

  async #ask(params: JsonObject): Promise<RpcMessage> {
    const id = `${this.#prefix}${++this.#count}`;
    const answered = new Promise<RpcMessage>((resolve) => this.#asked.set(id, resolve));
    try {
      await this.#options.send({ jsonrpc: "2.0", id, method: "tools/list", params });
      return await within(answered, { name: "tools/list", timeoutMs: listTimeoutMs });
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Remembers the tools of a page, and returns those that may be offered. */
  async #read(result: JsonObject): Promise<ToolDeclaration[]> {
    const declared = (Array.isArray(result.tools) ? result.tools : []).filter(isDeclaration);
    const names = new Set<string>();
    const tools = declared
      .filter(({ name }) => !names.has(name) && names.add(name).size <= maxTools)
      .slice(0, maxTools);
    const states = await this.#options.pins.check(tools);
    if (states.some((state) => state === "new" || state === "changed")) this.#options.onWaiting();
    return tools.filter((tool, at) => {
      const state = states[at] ?? "unusable";
      if (this.#tools.size < maxTools || this.#tools.has(tool.name)) {
        this.#tools.set(tool.name, { state, annotations: objectOf(tool.annotations) });
      }
      if (state !== "accepted") this.#note(tool.name, state);
      return state === "accepted";
    });
  }

  #note(name: string, state: Exclude<PinState, "accepted">): void {
    const key = `${state} ${name}`;
    if (this.#noted.has(key)) return;
    this.#noted.set(key, true);
    const advice = state === "unusable" ? "" : "; review it in the inbox, or with harness guard tools";
    this.#options.onNote(
      `the tool ${displayText(name, { maxLength: 200 })} is not offered: ${why[state]}${advice}`,
    );
  }
}
