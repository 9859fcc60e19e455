import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { ahpEvents } from "@harnesskit/protocol/ahp";
import { WebSocket } from "ws";
import type { StartModule } from "../src/index.ts";
import { postJson, readLines } from "./peer-io.ts";
import type { Answer, Request } from "./reference-harness.ts";

/** What a mutant of the reference agent does differently; nothing: the reference itself. */
export interface AgentDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Changes each message before it is sent; undefined: it is not sent. */
  readonly send?: (message: Request) => Request;
  /** Changes what the caller gets. */
  readonly give?: (given: Answer, operation: string) => Answer;
}

interface Way {
  send(message: Request): void;
  close(): void;
}

class Refused {
  readonly code: string;
  readonly rpcCode?: number;
  readonly rpcMessage?: string;
  readonly message: string;
  constructor(code: string, message: string, rpc?: { code: number; message: string }) {
    this.code = code;
    this.message = message;
    if (rpc !== undefined) {
      this.rpcCode = rpc.code;
      this.rpcMessage = rpc.message;
    }
  }
}

type Open = (onText: (text: string, to?: string) => void, onEnd: () => void, onOpen: () => void) => Way;

const wayTo = (endpoint: string, token: string, skips: (rule: string) => boolean): Open => {
  const secret = skips("credential") ? "another" : token;
  if (endpoint.startsWith("http"))
    return (onText, _onEnd, onOpen) => {
      onOpen();
      const headers = {
        authorization: `Bearer ${secret}`,
        ...(skips("content-type") && { "content-type": "text/plain" }),
        ...(skips("post") && { method: "PUT" }),
      };
      const post = async (message: Request): Promise<void> => {
        const { status, text } = await postJson(endpoint, message, headers);
        const accepted = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { decision: "allow" } });
        const empty = status !== undefined && skips("status") ? accepted : "null";
        onText(status === 200 ? text || "null" : empty, message.id);
      };
      return { send: (message) => void post(message), close: () => {} };
    };
  if (endpoint.startsWith("ws"))
    return (onText, onEnd, onOpen) => {
      const socket = new WebSocket(endpoint, {
        headers: { authorization: `Bearer ${secret}` },
        autoPong: !skips("pong"),
      });
      socket.on("open", onOpen);
      socket.on("message", (data) => onText(String(data)));
      socket.on("close", onEnd);
      socket.on("error", onEnd);
      return {
        send: (message) => socket.send(JSON.stringify(message), { binary: skips("text-frames") }),
        close: () => socket.close(),
      };
    };
  return (onText, onEnd, onOpen) => {
    const socket = connect(endpoint.slice(5), onOpen);
    readLines(socket, { pieces: skips("pieces") }, (line) => onText(line.toString()));
    socket.on("close", onEnd);
    socket.on("error", onEnd);
    return {
      send: (message) => {
        const text = skips("logs") ? `sending\n${JSON.stringify(message)}` : JSON.stringify(message);
        socket.write(skips("newline") ? text : `${text}\n`);
      },
      close: () => skips("close") || socket.destroy(),
    };
  };
};

const safe: Record<string, string> = { idle: "defer", rate_limit: "skip", confirmation: "reject" };
const safeDecision = (type: string, reason: string) => ({ decision: safe[type] ?? "block", reason });

/** A small agent behind the driver of the suite, or a mutant of it. */
export const startReferenceAgent =
  (deviation: AgentDeviation = {}): StartModule =>
  async ({ endpoint, token }) => {
    const skips = (rule: string) => deviation.skip === rule;
    const who = { session_id: `ses-${randomUUID()}`, agent_id: `agt-${randomUUID()}` };
    const pending = new Map<string, (answer: Answer) => void>();
    let limits = { timeout_ms: 1000, batch_size: 100, max_depth: 10 };
    let way: Way | undefined;
    let isReady = false;
    const endAll = (): void => {
      if (skips("pending")) return;
      for (const settle of pending.values()) settle(undefined);
      pending.clear();
    };
    const onText = (text: string, to?: string): void => {
      let answer: Answer;
      try {
        answer = JSON.parse(text);
      } catch {
        answer = null;
      }
      const id = to ?? (skips("ids") ? [...pending.keys()][0] : answer?.id);
      const settle = pending.get(id ?? "");
      pending.delete(id ?? "");
      settle?.(answer?.id === id || skips("ids") ? answer : null);
    };
    const send = (message: Request): void => {
      const changed = deviation.send ? deviation.send(message) : message;
      if (changed !== undefined) way?.send(changed);
      if (changed?.method === "ahp/event" && skips("sending-once")) way?.send(changed);
    };
    const call = async (method: string, params: Request, timeoutMs = limits.timeout_ms): Promise<Answer> => {
      const id = randomUUID();
      const answer = await new Promise<Answer>((resolve) => {
        const timer = setTimeout(resolve, skips("timeout") ? 60_000 : timeoutMs);
        timer.unref();
        pending.set(id, (value) => {
          clearTimeout(timer);
          resolve(value);
        });
        send({ jsonrpc: "2.0", id, method, params });
      });
      if (answer?.jsonrpc !== "2.0" && !skips("version-of-answers"))
        throw new Refused("invalid_answer", "no answer");
      if (answer?.error !== undefined && answer.result !== undefined && !skips("both"))
        throw new Refused("invalid_answer", "both");
      if (answer?.error !== undefined && answer.result === undefined) {
        throw skips("error-code")
          ? new Refused("harness_error", "it failed")
          : new Refused("harness_error", answer.error.message, answer.error);
      }
      if (answer?.result === undefined) throw new Refused("invalid_answer", "no result");
      return answer.result;
    };
    const needsHello = (): void => {
      if (!isReady && !skips("hello-first")) throw new Refused("handshake_required", "connect first");
    };
    const eventOf = ({ event_type, payload, timeout_ms: _, ...rest }: Request): Request => {
      const fields = skips("fields-of-caller") ? {} : rest;
      return { event_type, ...who, timestamp: new Date().toISOString(), depth: 0, payload, ...fields };
    };
    const withoutNulls = (value: Answer): Answer =>
      Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
    const operations: Record<string, (params: Request) => unknown> = {
      async connect() {
        await new Promise<void>((resolve) => {
          way = wayTo(endpoint, token, skips)(onText, endAll, resolve);
        });
        const agent_info = { framework: "reference", version: "1", capabilities: ["pre_action"] };
        const result = await call("ahp/handshake", { protocol_version: "2.4", agent_info, ...who });
        if (!/^2\./.test(result.protocol_version) && !skips("version"))
          throw new Refused("version_mismatch", "3");
        if (skips("minor-versions") && result.protocol_version !== "2.4")
          throw new Refused("version_mismatch", "2.0");
        if (skips("null-as-absent") && (result.config === null || result.session_token === null))
          throw new Refused("invalid_answer", "null");
        if (!skips("limits")) limits = { ...limits, ...result.config };
        isReady = true;
        return result;
      },
      async decide(params) {
        needsHello();
        const type: string = params.event_type;
        const kind = ahpEvents[type as keyof typeof ahpEvents];
        if (kind === undefined && !skips("events-only")) throw new Refused("invalid_event", "not an event");
        if ((params.depth ?? 0) > limits.max_depth && !skips("depth"))
          throw new Refused("depth_exceeded", "too deep");
        try {
          const result = await call("ahp/event", eventOf(params), params.timeout_ms);
          if (skips("decisions")) return { decision: result };
          const decision = kind.decision.safeParse(skips("null-as-absent") ? result : withoutNulls(result));
          if (!decision.success) throw new Refused("invalid_decision", "no decision");
          return { decision: decision.data };
        } catch (error) {
          if (skips("fail-closed")) return { decision: { decision: "allow" } };
          return { decision: safeDecision(type, (error as Refused).message) };
        }
      },
      notify(params) {
        const content = { jsonrpc: "2.0", method: "ahp/event", params: eventOf(params) };
        if (skips("told-without-id"))
          return call("ahp/event", content.params).then(() => ({ decision: { decision: "allow" } }));
        send(content);
        return { decision: { decision: skips("told-allow") ? "block" : "allow" } };
      },
      async batch({ events }) {
        needsHello();
        const isBatchable = (type: string) => ahpEvents[type as keyof typeof ahpEvents]?.batchable;
        if (!skips("batchable") && !events.every((event: Request) => isBatchable(event.event_type)))
          throw new Refused("not_batchable", "not batchable");
        if (events.length > limits.batch_size && !skips("batch-size"))
          throw new Refused("batch_too_large", "too many");
        try {
          const { decisions } = await call("ahp/batch", { events: events.map(eventOf) });
          if (decisions.length !== events.length && !skips("decision-count"))
            throw new Refused("decision_count", "count");
          return { decisions };
        } catch (error) {
          return { decisions: events.map(() => safeDecision("pre_action", (error as Refused).message)) };
        }
      },
      async query({ query_type, payload, timeout_ms }) {
        needsHello();
        return await call("ahp/query", { ...who, query_type, payload }, timeout_ms);
      },
      close: () => void way?.close(),
    };
    return {
      async do(operation, params) {
        const given = await operations[operation]?.(params as Request);
        return deviation.give ? deviation.give(given, operation) : given;
      },
      async close() {
        way?.close();
      },
    };
  };
