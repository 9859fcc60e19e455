import { isDeepStrictEqual } from "node:util";
import {
  type AhpEvent,
  AhpEventSchema,
  ahpEvents,
  BatchParamsSchema,
  HandshakeParamsSchema,
  QueryParamsSchema,
} from "@harnesskit/protocol/ahp";

/** What a mutant of the reference harness does differently; nothing: the reference itself. */
export interface HarnessDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Changes each answer before it is sent; undefined: it is not sent. */
  readonly answer?: (answer: Answer, request: Request) => unknown;
  /** Changes what is read. */
  readonly read?: (request: Request) => Request;
  /** Where and how it is served differently. */
  readonly serve?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: JSON that deviations take apart.
export type Answer = any;
// biome-ignore lint/suspicious/noExplicitAny: JSON that deviations take apart.
export type Request = any;

type Rule = { readonly code: number; readonly message: string };
class Refused {
  readonly rule: Rule;
  constructor(code: number, message: string) {
    this.rule = { code, message };
  }
}

const defaults = [
  "pre_action",
  "post_action",
  "pre_prompt",
  "query",
  "batch",
  "run_lifecycle",
  "task_list",
  "verification",
];
const handled = [
  "intent_detection",
  "context_perception",
  "memory_recall",
  "planning",
  "rate_limit",
  "confirmation",
];

/** What a connection remembers. */
export interface Memory {
  isIntroduced: boolean;
}

/**
 * A small harness with the test handler, or a mutant of it. `receive` takes what was read (undefined: not JSON) and gives
 * the answer, or undefined.
 */
export const createReferenceHarness = (deviation: HarnessDeviation = {}) => {
  const seen: Request[] = [];
  const skips = (rule: string) => deviation.skip === rule;
  const refuse = (rule: string, code: number, message: string): void => {
    if (!skips(rule)) throw new Refused(code, message);
  };
  const kindOf = (type: string) => ahpEvents[type as keyof typeof ahpEvents];

  const checkEvent = (event: Request, isBatched: boolean): AhpEvent => {
    const kind = kindOf(event?.event_type);
    if (kind === undefined) {
      refuse("known-types", -32602, "unknown event type");
      return event;
    }
    if (event?.depth > 10) refuse(isBatched ? "batch-depth" : "depth", -32602, "depth");
    const parsed = AhpEventSchema.safeParse(event);
    if (!parsed.success) refuse("event-shape", -32602, "invalid event");
    const payload = kind.payload.safeParse(event?.payload);
    if (!payload.success) refuse(`payload-${event.event_type}`, -32602, "invalid payload");
    return payload.success && parsed.success ? { ...parsed.data, payload: payload.data as never } : event;
  };

  const handle = async (event: Request): Promise<unknown> => {
    seen.push(event);
    const { event_type: type } = event;
    if (type === "idle") return { decision: skips("idle-default") ? "defer" : "allow" };
    if (type === "reasoning") {
      if (skips("unsupported")) return { decision: "allow" };
      throw new Refused(-32603, "Handler error: Capability not supported: reasoning");
    }
    const wish = event.metadata?.conformance ?? {};
    if (wish.delay_ms !== undefined) await new Promise((resolve) => setTimeout(resolve, wish.delay_ms));
    if (wish.fail !== undefined) {
      if (skips("fail-closed")) return { decision: "allow" };
      throw new Refused(
        -32603,
        skips("safe-errors") ? `Handler error: ${wish.fail}` : "Handler error: it failed",
      );
    }
    if (skips("own-policy")) return { decision: "allow" };
    const answer = "answer" in wish ? wish.answer : { decision: "allow" };
    const isValid = (kindOf(type) ?? kindOf("pre_action")).decision.safeParse(answer).success;
    if (!isValid) refuse("decision-shape", -32603, "Handler error: not a decision");
    return answer;
  };

  const methods: Record<string, (params: Request, memory: Memory, isTold: boolean) => unknown> = {
    "ahp/handshake"(params, memory) {
      const parsed = HandshakeParamsSchema.safeParse(params);
      if (!parsed.success) refuse("handshake-shape", -32602, "invalid params");
      const isSame = /^2(?:\.|$)/.test(String(params?.protocol_version));
      if (!isSame) {
        if (skips("keeps-handshake")) memory.isIntroduced = false;
        refuse(
          /^\d/.test(String(params?.protocol_version)) ? "version" : "no-version",
          -32000,
          "unsupported version",
        );
      }
      memory.isIntroduced = true;
      const harness_info = { name: "reference", version: "1.0.0", capabilities: [...defaults, ...handled] };
      return {
        protocol_version: "2.4",
        harness_info,
        config: { timeout_ms: 10_000, batch_size: 100, max_depth: 10 },
      };
    },
    async "ahp/event"(params, _memory, isTold) {
      const event = checkEvent(params, false);
      const blocks = kindOf(event.event_type)?.blocking ?? true;
      if (isTold && blocks) refuse("blocking-told", -32602, "has to be a request");
      if (!isTold && !blocks) refuse("told-asked", -32602, "has to be a notification");
      return await handle(event);
    },
    async "ahp/batch"(params) {
      const parsed = BatchParamsSchema.safeParse(params);
      if (!Array.isArray(params?.events) || params.events.some((one: unknown) => typeof one !== "object"))
        refuse("batch-shape", -32602, "invalid params");
      if (params.events.length > 100) refuse("batch-size", -32602, "too many events");
      const events: Request[] = params.events.map((event: unknown) => checkEvent(event, true));
      if (!parsed.success && !skips("event-shape")) refuse("batch-shape", -32602, "invalid params");
      if (!events.every(({ event_type }) => kindOf(event_type)?.batchable))
        refuse("batchable", -32602, "not batchable");
      const decisions: unknown[] = [];
      for (const event of events) {
        try {
          decisions.push(await handle(event));
        } catch (error) {
          if (skips("batch-failures")) throw error;
          decisions.push(
            skips("batch-fail-closed") ? { decision: "allow" } : { decision: "block", reason: "failed" },
          );
        }
      }
      return { decisions };
    },
    "ahp/query"(params) {
      if (!QueryParamsSchema.safeParse(params).success) refuse("query-shape", -32602, "invalid params");
      if (params.query_type !== "conformance.seen")
        return skips("unknown-query") ? { answer: true } : { answer: null, reason: "unknown query" };
      return { answer: seen.filter(({ session_id }) => session_id === params.session_id) };
    },
  };

  const answerTo = async (message: Request, memory: Memory): Promise<Answer> => {
    const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
    const id = isObject && ["string", "number"].includes(typeof message.id) ? message.id : "";
    const isTold =
      isObject && message.id === undefined && typeof message.method === "string" && message.jsonrpc === "2.0";
    const reply = (content: object) => ({ jsonrpc: "2.0", id, ...content });
    try {
      if (message === undefined) throw new Refused(-32700, "not JSON");
      const isCall = isObject && message.jsonrpc === "2.0" && typeof message.method === "string";
      const hasId = isTold || (message?.id !== undefined && isDeepStrictEqual(message.id, id));
      if (!isCall || !hasId) refuse("json-rpc", -32600, "not a request");
      const method = Object.hasOwn(methods, message.method) ? methods[message.method] : undefined;
      if (method === undefined) throw new Refused(-32601, "unknown method");
      if (message.method !== "ahp/handshake" && !memory.isIntroduced)
        refuse("introduction", -32600, "handshake first");
      const result = await method(message.params, memory, isTold);
      return isTold && !skips("answers-told") ? undefined : reply({ result });
    } catch (error) {
      if (isTold && !skips("answers-told") && memory.isIntroduced)
        return { told: true, ...reply({ error: errorOf(error) }) };
      return reply({ error: errorOf(error) });
    }
  };
  const errorOf = (error: unknown): Rule =>
    error instanceof Refused ? error.rule : { code: -32603, message: "Handler error: not understood" };

  const receive = async (message: Request, memory: Memory): Promise<Answer> => {
    const request = message !== undefined && deviation.read ? deviation.read(message) : message;
    const answer = await answerTo(request, memory);
    if (answer === undefined || deviation.answer === undefined) return answer;
    return deviation.answer(answer, request);
  };
  return { receive };
};
