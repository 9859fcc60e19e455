import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { StartModule } from "../src/index.ts";
import type { Answer, Request } from "./reference-harness.ts";

/** What a mutant of the reference thread server does differently; nothing: the reference itself. */
export interface ThreadsDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Changes each message before it is sent; undefined: it is not sent. */
  readonly send?: (message: Answer) => unknown;
}

class Refused {
  readonly error: { code: number; message: string; data?: unknown };
  constructor(code: number, message: string, data?: unknown) {
    this.error = data === undefined ? { code, message } : { code, message, data };
  }
}

interface Live {
  turnId: string;
  thread: Request;
  steps: Request[];
  turn: Request;
  requestId?: string;
  answer?: (decision: string) => void;
  cancel: () => void;
  isCancelled: boolean;
}

/** A small thread server with the test agent, or a mutant of it, on length-prefixed frames. */
export const startReferenceThreads =
  (deviation: ThreadsDeviation = {}): StartModule =>
  async ({ endpoint, directory }) => {
    const skips = (rule: string) => deviation.skip === rule;
    const root = join(directory, ".harness/threads");
    const threads = new Map<string, { thread: Request; events: Request[]; always: Set<string> }>();
    const live = new Map<string, Live>();
    const resolved = new Set<string>();
    const requests = new Map<string, { text: string; result: Answer }>();
    const sockets = new Set<Socket>();
    const followed = new Map<Socket, Set<string>>();

    const write = (socket: Socket, message: Answer): void => {
      const changed = deviation.send ? deviation.send(message) : message;
      if (changed === undefined) return;
      const bytes = Buffer.from(JSON.stringify(changed));
      const header = Buffer.alloc(4);
      header.writeUInt32BE(bytes.length);
      socket.write(Buffer.concat([header, bytes]));
    };
    const log = (threadId: string, type: string, params: Request): void => {
      const kept = threads.get(threadId);
      if (kept === undefined) return;
      const event = { seq: kept.events.length + 1, time: Date.now(), type, data: params };
      if (!skips("history") || type !== "item.completed") kept.events.push(event);
      if (!skips("files")) appendFileSync(join(root, threadId, "events.jsonl"), `${JSON.stringify(event)}\n`);
      const message = {
        jsonrpc: "2.0",
        method: type,
        params: { ...params, seq: event.seq, time: event.time },
      };
      for (const socket of sockets) {
        const only = followed.get(socket);
        if (only === undefined || only.has(threadId)) write(socket, message);
      }
    };
    const load = (): void => {
      if (skips("restarts") || !existsSync(root)) return;
      for (const threadId of readdirSync(root)) {
        if (!existsSync(join(root, threadId, "meta.json"))) continue;
        const thread = JSON.parse(readFileSync(join(root, threadId, "meta.json"), "utf8"));
        const lines = readFileSync(join(root, threadId, "events.jsonl"), "utf8")
          .split("\n")
          .filter(Boolean);
        threads.set(threadId, { thread, events: lines.map((line) => JSON.parse(line)), always: new Set() });
      }
    };

    const begin = (live_: Live, from: number): void => {
      live.set(live_.thread.threadId, live_);
      void runTurn(live_, from);
    };
    const item = (turn: Live, type: string, data: Request, delta?: string): void => {
      const ids = { threadId: turn.thread.threadId, turnId: turn.turnId, itemId: randomUUID(), type };
      const whole = { itemId: ids.itemId, threadId: ids.threadId, turnId: ids.turnId, type };
      log(ids.threadId, "item.started", { ...ids, item: { ...whole, data: {} } });
      if (delta !== undefined) log(ids.threadId, "item.delta", { ...ids, delta });
      log(ids.threadId, "item.completed", { ...ids, item: { ...whole, data } });
    };
    const end = (turn: Live, status: string): void => {
      const { threadId } = turn.thread;
      live.delete(threadId);
      const ended = { ...turn.turn, status, time: { ...turn.turn.time, completed: Date.now() } };
      const base = { threadId, turnId: turn.turnId, turn: ended };
      if (status === "error")
        log(threadId, "turn.error", {
          ...base,
          error: skips("safe-errors") ? "the words of the agent" : "it failed",
          code: "failed",
        });
      else log(threadId, "turn.completed", { ...base, status });
      if (skips("one-end")) log(threadId, "turn.completed", { ...base, status });
    };
    const ask = async (turn: Live, command: string): Promise<string> => {
      const requestId = `apr-${randomUUID()}`;
      const input = { command };
      const metadata = {
        tool: "bash",
        input,
        preview: "",
        digest: `sha256:${createHash("sha256").update(command).digest("hex")}`,
      };
      const params = {
        threadId: turn.thread.threadId,
        turnId: turn.turnId,
        itemId: randomUUID(),
        requestId,
        permission: "bash",
        metadata,
      };
      turn.requestId = requestId;
      log(turn.thread.threadId, "approval.requested", params);
      const decision = await new Promise<string>((resolve) => {
        turn.answer = resolve;
      });
      delete turn.requestId;
      resolved.add(requestId);
      log(turn.thread.threadId, "approval.resolved", { threadId: turn.thread.threadId, requestId, decision });
      item(turn, "approval", { requestId, permission: "bash", metadata, decision, resolvedBy: "client" });
      return decision;
    };
    const call = async (turn: Live, command: string): Promise<void> => {
      const kept = threads.get(turn.thread.threadId);
      const isGranted = kept?.always.has(skips("exact-grants") ? "any" : command) === true;
      const decision = isGranted || skips("approvals") ? "once" : await ask(turn, command);
      if (turn.isCancelled) return;
      if (decision === "always" && !skips("grants"))
        kept?.always.add(skips("exact-grants") ? "any" : command);
      if (decision === "once" && skips("asks-again")) kept?.always.add(command);
      const data = { tool: "bash", input: { command } };
      if (decision === "reject" && !skips("rejections"))
        return item(turn, "tool_exec", { ...data, status: "rejected", error: "no" });
      item(turn, "tool_log", { toolItemId: "x", stream: "stdout", text: `${command}\n` });
      item(turn, "tool_exec", { ...data, status: "succeeded", output: {} });
    };
    const runTurn = async (turn: Live, from: number): Promise<void> => {
      const { providerID, modelID } = turn.turn.model ?? {};
      for (const step of turn.steps.slice(from)) {
        if (turn.isCancelled) break;
        if (step.say !== undefined) item(turn, "assistant_message", { text: step.say }, step.say);
        if (step.think !== undefined)
          item(turn, "assistant_message", { text: step.think, reasoning: true }, step.think);
        if (step.who === true)
          item(turn, "assistant_message", { text: `${providerID}/${modelID} ${turn.turn.agent}` });
        if (step.artifact !== undefined)
          item(turn, "artifact", { kind: "file", path: "p", mimeType: "text/plain", sizeBytes: 1 });
        if (step.run !== undefined) await call(turn, step.run);
        if (step.fail !== undefined) return end(turn, "error");
        if (step.wait === true && !turn.isCancelled)
          await new Promise<void>((resolve) => {
            turn.cancel = resolve;
          });
      }
      end(turn, turn.isCancelled && !skips("cancelled-status") ? "cancelled" : "completed");
    };

    const text = (value: unknown): string => {
      if (typeof value !== "string") throw new Refused(skips("shapes") ? -32603 : -32602, "not a string");
      return value;
    };
    const threadOf = (params: Request) => {
      const found = threads.get(text(params?.threadId));
      if (found === undefined) throw new Refused(skips("thread-code") ? -32602 : -32001, "no such thread");
      return found;
    };
    const repeated = (params: Request, make: () => Answer): Answer => {
      const id = params?.clientRequestId;
      const before = id === undefined ? undefined : requests.get(id);
      if (before !== undefined && before.text !== JSON.stringify(params) && !skips("conflicts"))
        throw new Refused(-32005, "another request");
      if (before !== undefined && !skips("repeats")) return before.result;
      const result = make();
      if (id !== undefined) requests.set(id, { text: JSON.stringify(params), result });
      return result;
    };
    const methods: Record<
      string,
      (params: Request, after: (act: () => void) => void, socket: Socket) => Answer
    > = {
      initialize: () => ({
        version: "1.0.0",
        capabilities: {
          threads: true,
          turns: true,
          approvals: true,
          streaming: true,
          persistence: true,
          extensions: {},
        },
        ...(skips("same-initialize") ? { session: randomUUID() } : {}),
      }),
      "thread.create": (params, after) =>
        repeated(params, () => {
          if (params?.title !== undefined) text(params.title);
          if (params?.directory !== undefined && !skips("inside")) {
            if (/^\/|\.\./.test(text(params.directory))) throw new Refused(-32602, "outside");
          }
          const time = Date.now();
          const threadId = skips("ids") ? "same" : `ses_${randomUUID()}`;
          const thread = {
            threadId,
            title: params?.title ?? "",
            directory,
            time: { created: time, updated: time },
          };
          threads.set(threadId, { thread, events: [], always: new Set() });
          mkdirSync(join(root, threadId), { recursive: true });
          writeFileSync(join(root, threadId, "events.jsonl"), "");
          if (!skips("meta")) writeFileSync(join(root, threadId, "meta.json"), JSON.stringify(thread));
          after(() => log(threadId, "thread.created", { threadId, thread }));
          return { thread };
        }),
      "thread.list": (params) => {
        const all = [...threads.values()]
          .map(({ thread }) => thread)
          .filter(({ title }) => params?.title === undefined || title === params.title);
        const start = Number(params?.cursor ?? 0);
        const limit = skips("paging") ? 1000 : (params?.limit ?? all.length);
        return {
          threads: all.slice(start, start + limit),
          ...(start + limit < all.length ? { nextCursor: String(start + limit) } : {}),
        };
      },
      "thread.get": (params) => {
        const { thread, events } = threadOf(params);
        const from = skips("parts") ? 0 : (params.afterSeq ?? 0);
        return { thread, events: events.slice(from, from + (params.limit ?? events.length)) };
      },
      "thread.subscribe": (params, after, socket) => {
        const { thread, events } = threadOf(params);
        followed.set(socket, new Set([thread.threadId]));
        after(() => {
          for (const { seq, time, type, data } of skips("past") ? [] : events)
            write(socket, { jsonrpc: "2.0", method: type, params: { ...data, seq, time } });
        });
        return { ok: true };
      },
      "thread.delete": (params) => {
        const { thread } = threadOf(params);
        if (live.has(thread.threadId) && !skips("delete-busy")) throw new Refused(-32002, "busy");
        threads.delete(thread.threadId);
        return { ok: true };
      },
      "turn.start": (params, after) => {
        const { thread } = threadOf(params);
        const valid =
          Array.isArray(params.input) &&
          params.input.every(
            (part: Request) =>
              (part?.type === "text" && typeof part.text === "string") ||
              (part?.type === "file" && !skips("files-as-input")),
          );
        if (!valid) throw new Refused(skips("shapes") ? -32603 : -32602, "input");
        if (params.model !== undefined && params.model.providerID !== "offline" && !skips("known-models"))
          throw new Refused(-32602, "model");
        if (params.agent !== undefined && params.agent !== "code" && !skips("known-agents"))
          throw new Refused(-32602, "agent");
        if (live.has(thread.threadId) && !skips("busy")) throw new Refused(-32002, "busy");
        const turnId = `trn_${randomUUID()}`;
        const turn = {
          turnId,
          threadId: thread.threadId,
          status: "running",
          time: { started: Date.now() },
          model: skips("model") ? {} : params.model,
          agent: skips("agent") ? "" : params.agent,
        };
        const steps = (() => {
          try {
            return JSON.parse(params.input[0].text).conformance;
          } catch {
            return [];
          }
        })();
        const start: Live = { turnId, thread, steps, turn, cancel: () => {}, isCancelled: false };
        const go = (): void => {
          log(thread.threadId, "turn.started", { threadId: thread.threadId, turnId, turn });
          item(start, "user_message", { content: params.input });
          begin(start, 0);
        };
        if (skips("reply-first")) go();
        else after(go);
        return { turnId };
      },
      "turn.cancel": (params, after) => {
        const { thread } = threadOf(params);
        const turn = live.get(thread.threadId);
        if (turn === undefined) throw new Refused(skips("turn-code") ? -32602 : -32003, "no turn");
        turn.isCancelled = true;
        after(() => {
          turn.cancel();
          turn.answer?.("reject");
        });
        return { ok: true };
      },
      "approval.respond": (params, after) => {
        const requestId = text(params?.requestId);
        if (!["once", "always", "reject"].includes(params.decision))
          throw new Refused(skips("shapes") ? -32603 : -32602, "decision");
        const turn = [...live.values()].find((each) => each.requestId === requestId);
        if (turn === undefined) {
          if (resolved.has(requestId) && skips("resolved")) return { ok: true };
          throw new Refused(
            skips("approval-code") ? -32602 : -32004,
            "no such approval",
            resolved.has(requestId) ? { reason: "already_resolved", by: "client" } : undefined,
          );
        }
        after(() => turn.answer?.(params.decision));
        return { ok: true };
      },
    };

    const receive = (message: Request, socket: Socket): void => {
      const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
      const id = isObject && ["string", "number"].includes(typeof message.id) ? message.id : null;
      const isTold =
        isObject &&
        message.jsonrpc === "2.0" &&
        typeof message.method === "string" &&
        message.id === undefined;
      const later: (() => void)[] = [];
      let reply: Answer;
      try {
        if (message === undefined) throw new Refused(-32700, "not JSON");
        if (
          !isTold &&
          (!isObject || message.jsonrpc !== "2.0" || typeof message.method !== "string" || id === null)
        )
          throw new Refused(-32600, "not a request");
        const method = Object.hasOwn(methods, message.method) ? methods[message.method] : undefined;
        if (message.params === undefined && skips("optional-params")) throw new Refused(-32602, "no params");
        if (method === undefined) throw new Refused(-32601, "unknown method");
        reply = { jsonrpc: "2.0", id, result: method(message.params, (act) => later.push(act), socket) };
      } catch (error) {
        const refused =
          error instanceof Refused ? error.error : { code: -32603, message: String((error as Error).stack) };
        reply = { jsonrpc: "2.0", id, error: refused };
      }
      if (!isTold || skips("answers-told")) write(socket, reply);
      for (const act of later) act();
    };

    load();
    for (const [threadId, { thread, events }] of threads) {
      const started = events.findLast(({ type }) => type === "turn.started");
      const isOver = events.some(
        ({ type, data }) => /^turn\.(?:completed|error)$/.test(type) && data.turnId === started?.data.turnId,
      );
      if (started === undefined || isOver) continue;
      const { turnId, turn } = started.data;
      const asked = events.findLast(
        ({ type, data }) => type === "approval.requested" && data.turnId === turnId,
      );
      const resumed: Live = { turnId, thread, steps: [], turn, cancel: () => {}, isCancelled: false };
      if (asked === undefined || skips("waits-on")) {
        if (!skips("interrupted")) end(resumed, "error");
        continue;
      }
      resumed.requestId = asked.data.requestId;
      live.set(threadId, resumed);
      resumed.answer = () => {
        delete resumed.requestId;
        item(resumed, "tool_exec", { tool: "bash", input: {}, status: "succeeded", output: {} });
        end(resumed, "completed");
      };
    }

    const server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket);
      let rest = Buffer.alloc(0);
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => {
        rest = skips("pieces") ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
        while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
          const size = rest.readUInt32BE();
          const content = rest.subarray(4, 4 + size).toString();
          rest = skips("merged") ? Buffer.alloc(0) : rest.subarray(4 + size);
          let message: unknown;
          try {
            message = JSON.parse(content);
          } catch {
            message = undefined;
          }
          receive(message, socket);
        }
      });
      socket.on("end", () => socket.end());
    }).listen(endpoint.slice(5));
    await once(server, "listening");
    return {
      async close() {
        for (const socket of sockets) socket.destroy();
        sockets.clear();
        server.close();
        await once(server, "close");
      },
    };
  };
