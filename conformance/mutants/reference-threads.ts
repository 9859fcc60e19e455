import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { StartModule } from "../src/index.ts";
import { toFrame } from "./peer-io.ts";
import type { Answer, Request } from "./reference-harness.ts";
import { type KeptThread, organised } from "./reference-threads-organised.ts";
import { type Method, Refused, serveFrames } from "./reference-threads-socket.ts";
import { createTurns, type Live } from "./reference-threads-turns.ts";

/** What a mutant of the reference thread server does differently; nothing: the reference itself. */
export interface ThreadsDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Changes each message before it is sent; undefined: it is not sent. */
  readonly send?: (message: Answer) => unknown;
}

/** A small thread server with the test agent, or a mutant of it, on length-prefixed frames. */
export const startReferenceThreads =
  (deviation: ThreadsDeviation = {}): StartModule =>
  async ({ endpoint, directory }) => {
    const skips = (rule: string) => deviation.skip === rule;
    const root = join(directory, ".harness/threads");
    const threads = new Map<string, KeptThread>();
    const live = new Map<string, Live>();
    const resolved = new Set<string>();
    /** By thread, what its prompts that wait do when they begin. */
    const queues = new Map<string, Map<string, () => void>>();
    const requests = new Map<string, { text: string; result: Answer }>();
    const sockets = new Set<Socket>();
    const followed = new Map<Socket, Set<string>>();

    const write = (socket: Socket, message: Answer): void => {
      const changed = deviation.send ? deviation.send(message) : message;
      if (changed !== undefined) socket.write(toFrame(changed));
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

    const alwaysOf = (threadId: string) => threads.get(threadId)?.always;
    const next = (threadId: string): void => {
      const [first] = queues.get(threadId) ?? [];
      if (first === undefined) return;
      queues.get(threadId)?.delete(first[0]);
      first[1]();
    };
    const { begin, item, end } = createTurns({ skips, log, live, resolved, alwaysOf, onEnd: next });

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
    const keep = (thread: Request, events: Request[]): void => {
      threads.set(thread.threadId, { thread, events, always: new Set() });
      mkdirSync(join(root, thread.threadId), { recursive: true });
      const lines = events.map((event) => `${JSON.stringify(event)}\n`);
      writeFileSync(join(root, thread.threadId, "events.jsonl"), lines.join(""));
      if (!skips("meta")) writeFileSync(join(root, thread.threadId, "meta.json"), JSON.stringify(thread));
    };
    const methods: Record<string, Method> = {
      ...organised({
        skips,
        threadOf,
        text,
        all: () => threads.values(),
        isBusy: (id) => live.has(id),
        keep,
      }),
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
          keep(thread, []);
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
        if (thread.time.archived !== undefined && !skips("archived")) throw new Refused(-32006, "archived");
        const waits = live.has(thread.threadId) && params.whenBusy === "queue" && !skips("queues");
        if (live.has(thread.threadId) && !waits && !skips("busy")) throw new Refused(-32002, "busy");
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
        if (waits) {
          const queue = queues.get(thread.threadId) ?? new Map<string, () => void>();
          queues.set(thread.threadId, queue.set(turnId, go));
          return { turnId, queued: { position: queue.size } };
        }
        if (skips("reply-first")) go();
        else after(go);
        return { turnId };
      },
      "turn.cancel": (params, after) => {
        const { thread } = threadOf(params);
        if (!skips("takes-back") && queues.get(thread.threadId)?.delete(params.turnId)) return { ok: true };
        const turn = live.get(thread.threadId);
        if (turn === undefined || ![undefined, turn.turnId].includes(params.turnId))
          throw new Refused(skips("turn-code") ? -32602 : -32003, "no turn");
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

    return serveFrames(endpoint.slice(5), { skips, methods, write, sockets });
  };
