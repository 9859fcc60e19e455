import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { inlineAttachment, ShellResponseSchema } from "@harnesskit/protocol/openharness";
import type { StartModule } from "../src/index.ts";
import { postJson, readLines } from "./peer-io.ts";
import type { Answer, Request } from "./reference-harness.ts";

/** What a mutant of the reference shell does differently; nothing: the reference itself. */
export interface ShellDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Changes each request before it is sent. */
  readonly send?: (request: Request) => Request;
  /** Changes what was read. */
  readonly read?: (answer: Answer) => Answer;
  /** Changes what the driver is given. */
  readonly give?: (given: Answer) => Answer;
}

/** A response, or why it is missing. */
type Reply = { readonly status?: number | undefined; readonly text?: string };
type Post = (request: Request) => Promise<Reply>;

const overHttp = (endpoint: string, token: string): { post: Post; close: () => void } => ({
  post: (request) => postJson(endpoint, request, { authorization: `Bearer ${token}` }),
  close: () => {},
});

const idIn = (text: string): string | undefined => {
  try {
    return JSON.parse(text).request_id;
  } catch {
    return undefined;
  }
};

const overSocket = (path: string, skips: (rule: string) => boolean): { post: Post; close: () => void } => {
  const waiting = new Map<string, (reply: Reply) => void>();
  const socket = connect(path);
  socket.on("error", () => {});
  readLines(socket, { pieces: skips("pieces") }, (line) => {
    const text = line.toString();
    const id = skips("ids") ? [...waiting.keys()][0] : idIn(text);
    waiting.get(id ?? "")?.({ text });
    waiting.delete(id ?? "");
  });
  return {
    post: (request) =>
      new Promise((resolve) => {
        waiting.set(request.request_id, resolve);
        const text = JSON.stringify(request);
        socket.write(`${skips("logs") ? "sending\n" : ""}${text}\n`);
      }),
    close: () => socket.destroy(),
  };
};

/** A small shell behind the driver of the suite, or a mutant of it. */
export const startReferenceShell =
  (deviation: ShellDeviation = {}): StartModule =>
  async ({ endpoint, token }) => {
    const skips = (rule: string) => deviation.skip === rule;
    const line = endpoint.startsWith("http")
      ? overHttp(endpoint, skips("credential") ? "another" : token)
      : overSocket(endpoint.slice(5), skips);
    const session = `sess-${randomUUID()}`;

    const toRequest = ({ intent, attachments, environment }: Request): Request => {
      const isRaw = skips("hashed");
      const state = environment && {
        privacy_tier: "restricted",
        ...environment,
        active_window: isRaw ? environment.active_window : `hash-${environment.active_window.length}`,
      };
      const context = {
        session_id: session,
        user_intent: intent,
        shell: {
          shell_kind: "conformance",
          shell_version: "1.0.0",
          locale: "en-US",
          timezone: "Europe/Berlin",
        },
        ...(attachments && { attachments }),
        ...(state && { environment_state: state }),
      };
      return {
        protocol_version: "1.0.0",
        request_id: randomUUID(),
        capabilities: { "openharness.ui.approval": true },
        request: { context },
      };
    };

    /** The response to one attempt; undefined without a usable one. */
    const exchange = async (request: Request): Promise<Answer | undefined> => {
      const { status = 200, text } = await line.post(deviation.send ? deviation.send(request) : request);
      let message: Answer;
      try {
        message = JSON.parse(text ?? "");
      } catch {
        return undefined;
      }
      const major = String(message?.protocol_version).split(".")[0];
      if (major !== "1" && !skips("major")) return undefined;
      const read = deviation.read ? deviation.read(message) : message;
      const parsed = ShellResponseSchema.safeParse(read);
      if (!parsed.success && !skips("shape")) return undefined;
      const answer: Answer = parsed.success ? parsed.data : read;
      const isError = answer?.response?.status === "error";
      if (status !== 200 && (skips("documents") || (!isError && !skips("status")))) return undefined;
      return answer;
    };

    const carryOut = async (directive: Answer, did: object[], approve: string | undefined, at: number) => {
      const { action_type: type, payload = {}, deadline_ms, risk_tier, requires_user_approval } = directive;
      const instead = payload.fallback_message ?? payload.message ?? payload.text;
      const show = (text: unknown): void => {
        if (typeof text === "string") did.push({ shown: text });
      };
      const isKnown = ["render_message", "simulate_action", "com.example.work", "noop"].includes(type);
      if (!isKnown) {
        if (!skips("report")) did.push({ reported: "unknown_action_type" });
        if (skips("unknown")) did.push({ done: type });
        if (!skips("unknown-text")) show(payload.message ?? payload.fallback_message);
        return;
      }
      const texts = ["macro", "message", "text"].map((name) => payload[name] ?? "");
      const fits = texts.every((text) => typeof text === "string") || skips("payload");
      if (!fits) return skips("payload-text") ? undefined : show(instead);
      const asks =
        (requires_user_approval && !skips("approval")) || (risk_tier === "dangerous" && !skips("risk"));
      if (asks) {
        did.push({ asked: type });
        if (approve !== "approved" && !(skips("refusal") && approve === "refused") && !skips("silence"))
          return;
      }
      if (type === "render_message")
        return show(
          skips("text")
            ? payload.message
            : skips("message")
              ? payload.text
              : (payload.message ?? payload.text),
        );
      if (type === "noop") return;
      const dueIn = deadline_ms === undefined || skips("deadline") ? Infinity : at + deadline_ms - Date.now();
      if ((payload.ms ?? 0) > dueIn) return;
      if (payload.ms !== undefined) await new Promise((resolve) => setTimeout(resolve, payload.ms));
      did.push({ done: type, ...(payload.name && { name: payload.name }) });
    };

    const send = async (params: Request): Promise<Answer> => {
      if (inlineAttachment(params.attachments ?? []) !== undefined && !skips("inline"))
        throw Object.assign(new Error("inline data"), { code: "invalid_request" });
      const did: object[] = [];
      const request = toRequest(params);
      let answer = await exchange(request);
      if (answer?.response.error?.retryable === true && !skips("retry"))
        answer = await exchange(skips("same-id") ? { ...request, request_id: randomUUID() } : request);
      const { response, capability_denials: denials = [] } = answer ?? {};
      const deny = () => did.push(...denials.map(({ capability }: Answer) => ({ denied: capability })));
      if (!skips("denials-first")) deny();
      const at = Date.now();
      const isOver = response?.status !== "success" && !skips("error-directives");
      const list: Answer[] = isOver ? [] : [...(response?.action_directives ?? [])];
      if (skips("order")) list.reverse();
      const strange = list.some(({ action_type }) => !/[._]|noop/.test(action_type)) && skips("any-name");
      const work = (strange ? [] : list).map(
        (directive) => () => carryOut(directive, did, params.approve ?? undefined, at),
      );
      if (skips("sequence")) await Promise.all(work.map((run) => run()));
      else for (const run of work) await run();
      if (skips("denials-first")) deny();
      if (response === undefined) return { status: "error", code: "invalid_response", did };
      const code = skips("error-code") ? "error" : response.error?.code;
      return { status: response.status, code, did };
    };

    return {
      async do(operation, params) {
        if (operation !== "send") return;
        const given = await send(params as Request);
        return deviation.give ? deviation.give(given) : given;
      },
      async close() {
        line.close();
      },
    };
  };
