import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ActionDirectiveSchema, inlineAttachment, parseShellRequest } from "@harnesskit/protocol/openharness";
import type { Answer, Request } from "./reference-harness.ts";

/** What a mutant of the reference engine does differently; nothing: the reference itself. */
export interface EngineDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Changes each answer before it is sent; undefined: it is not sent. */
  readonly answer?: (answer: Answer, request: Request) => unknown;
  /** Changes what is read. */
  readonly read?: (request: Request) => Request;
  /** Where and how it is served differently. */
  readonly serve?: string;
}

class Refused {
  readonly error: Answer;
  constructor(code: string, more: object = {}) {
    this.error = { code, message: "It is not possible.", retryable: false, ...more };
  }
}

const offered = ["openharness.ui.approval", "openharness.actions.parallel", "openharness.ui.rich_cards"];
const known = [...offered, "openharness.streaming", "openharness.attachments.upload"];
const wishKey = "dev.harnesskit.conformance";

/**
 * A small engine with the test handler, or a mutant of it. `receive` takes what was read (undefined: not JSON) and gives the
 * answer, or undefined.
 */
export const createReferenceEngine = (directory: string, deviation: EngineDeviation = {}) => {
  const skips = (rule: string) => deviation.skip === rule;
  const refuse = (rule: string, code = "invalid_request", more: object = {}): void => {
    if (!skips(rule)) throw new Refused(code, more);
  };
  const remembered = new Map<string, { asked: unknown; payload: Promise<Answer> }>();
  const runs = new Map<string, Answer>();
  let handled = 0;
  let lastId = 0;

  const log = (text: string, context: Answer, auth: Answer): void => {
    const { environment_state: state } = context;
    let line = text;
    const hide = (rule: string, value: unknown): void => {
      if (typeof value === "string" && value !== "" && !skips(rule)) line = line.replaceAll(value, "…");
    };
    hide("log-secret-auth", auth?.token);
    if (state !== undefined && state?.privacy_tier !== "public") {
      const tier = state?.privacy_tier === "secret" ? "secret" : "restricted";
      hide("log-intent", context.user_intent);
      hide(`log-${tier}`, state?.active_window);
    }
    appendFileSync(join(directory, "engine.log"), `${line}\n`);
  };

  const toSend = (directives: Answer[], has: (name: string) => boolean, denials: Answer[]): Answer[] =>
    directives.flatMap((directive) => {
      if (!ActionDirectiveSchema.safeParse(directive).success) {
        if (!skips("directive-shape")) throw new Refused("internal_error");
        return [directive];
      }
      if (skips("approval-everywhere") && directive.requires_user_approval && !has(offered[0] as string))
        return [];
      if (skips("any-name") && !directive.action_type.includes("_") && !directive.action_type.includes("."))
        return directive.action_type === "noop" ? [directive] : [];
      if (directive.action_type === "render_ui" && !has("openharness.ui.rich_cards") && !skips("downgrade")) {
        denials.push({ capability: "openharness.ui.rich_cards", code: "not_declared" });
        const message = directive.payload.message;
        return [{ action_type: "render_message", payload: { message, text: message } }];
      }
      const mayBeParallel = has("openharness.actions.parallel") || skips("parallel");
      const execution =
        directive.execution === "parallel" && !mayBeParallel ? { execution: "sequential" } : {};
      const { message = directive.payload?.text, text = directive.payload?.message } =
        directive.payload ?? {};
      const both =
        directive.action_type === "render_message" && !skips("both-texts") ? { message, text } : {};
      const payload = { payload: { ...directive.payload, ...both } };
      return [{ ...directive, ...execution, ...(directive.payload && payload) }];
    });

  const resume = (continuation: Answer, session: string): Answer | undefined => {
    const run = runs.get(continuation.continuation_token);
    if (run === undefined) {
      if (skips("token-only") && continuation.run_id !== undefined && continuation.run_id !== "own-run")
        return [...runs.values()][0];
      return undefined;
    }
    if (run.session !== session && !skips("run-session")) throw new Refused("invalid_continuation");
    if (![undefined, null, run.id].includes(continuation.run_id) && !skips("run-id"))
      throw new Refused("invalid_continuation");
    if (run.isUsed) refuse("once", "continuation_used");
    run.isUsed = true;
    return run;
  };

  const handle = async (request: Request, has: (name: string) => boolean): Promise<Answer> => {
    handled += 1;
    const context = request.request.context ?? {};
    const { continuation, task_hint: hint } = context;
    const run = [...runs.values()].find(({ token }) => token === continuation?.continuation_token);
    const isNew = context.session_id === undefined;
    const session =
      context.session_id ??
      (skips("leads-back") || !run
        ? skips("new-session")
          ? "default"
          : `made-${++lastId}-${handled}`
        : run.session);
    const denials: Answer[] = [];
    const done = (directives: Answer[], extensions?: object) => ({
      denials,
      response: { action_directives: toSend(directives, has, denials), ...(extensions && { extensions }) },
    });
    if (continuation !== undefined) {
      const resumed = skips("resumes") ? undefined : resume(continuation, session);
      if (resumed)
        return done([
          { action_type: "com.example.resumed", payload: { data: resumed.data, session_id: session } },
        ]);
      const { continuation_token: token } = continuation;
      const isOwn = token === undefined || token.startsWith("own:");
      if (!isOwn || skips("own-continuation")) throw new Refused("invalid_continuation");
      return done([{ action_type: "com.example.own", payload: { continuation } }]);
    }
    if (hint?.sop_id === "conformance" && !skips("sops")) return done([{ action_type: "com.example.sop" }]);
    if (hint?.sop_id !== undefined) refuse("unknown-sop", "unknown_sop");
    if (hint?.plugin_id !== undefined && skips("plugin-hint")) throw new Refused("unknown_plugin");
    const wish = context.extensions?.[wishKey] ?? {};
    if (wish.log !== undefined) log(wish.log, context, request.request.auth);
    if (wish.wait_ms !== undefined) await new Promise((resolve) => setTimeout(resolve, wish.wait_ms));
    if (wish.crash !== undefined)
      throw new Refused("internal_error", skips("safe-crash") ? { message: wish.crash } : {});
    if (wish.fail !== undefined) {
      const { token } = request.request.auth ?? {};
      const text = JSON.stringify(wish.fail);
      throw new Refused("", JSON.parse(skips("safe-fail") || !token ? text : text.replaceAll(token, "…")));
    }
    const seen = {
      action_type: "com.example.seen",
      payload: {
        count: handled,
        session_id: session,
        conversation: JSON.stringify(
          skips("threads") ? [session] : [session, context.conversation_id ?? null],
        ),
        user_intent: context.user_intent,
        shell: skips("shell-identity") ? {} : context.shell,
        capabilities: skips("vendor-keys")
          ? Object.fromEntries(
              Object.entries(request.capabilities ?? {}).filter(([key]) => known.includes(key)),
            )
          : request.capabilities,
        ...(skips("opaque-auth") && { auth: request.request.auth }),
      },
    };
    const directives: Answer[] = [];
    let extensions: object | undefined;
    if (wish.continue !== undefined) {
      const run = { id: `run-${++lastId}`, token: `tok-${lastId}`, session, isNew, data: wish.continue };
      runs.set(run.token, run);
      directives.push({
        action_type: "request_approval",
        payload: { message: "Go on?", continuation: { run_id: run.id, continuation_token: run.token } },
      });
      extensions = skips("own-keys") ? { continuation: run.token } : { "dev.example": run.token };
    }
    directives.push(...(wish.directives ?? []), ...(wish.see === true ? [seen] : []));
    if (skips("order")) directives.reverse();
    return done(directives, extensions);
  };

  const handleOnce = (request: Request, has: (name: string) => boolean): Promise<Answer> => {
    const { request_id: id, correlation_id: _, ...asked } = request;
    const session = request.request.context?.session_id;
    const key = JSON.stringify(skips("ids-of-session") ? [id] : [session, id]);
    const before = id === undefined ? undefined : remembered.get(key);
    if (before !== undefined && !skips("once-handled")) {
      if (!isDeepStrictEqual(before.asked, asked)) refuse("id-conflict", "request_id_conflict");
      return before.payload;
    }
    const payload = handle(request, has);
    payload.catch(() => {});
    if (id !== undefined) remembered.set(key, { asked, payload });
    return payload;
  };

  const answerTo = async (message: Request): Promise<Answer> => {
    const ids = Object.fromEntries(
      ["request_id", "correlation_id"].flatMap((name) =>
        typeof message?.[name] === "string" && message[name] !== "" ? [[name, message[name]]] : [],
      ),
    );
    const envelope = {
      protocol_version: "1.0.0",
      ...ids,
      supported_protocol_versions: ["1.0.0"],
      supported_capabilities: Object.fromEntries(offered.map((name) => [name, true])),
    };
    const fail = (error: Answer) => ({ ...envelope, response: { status: "error", error } });
    try {
      if (message === undefined) throw new Refused("invalid_request");
      const version = message?.protocol_version;
      if (/^\d+\.\d+\.\d+/.test(String(version)) && !/^1\./.test(version))
        refuse("major", "protocol_version_unsupported");
      const parsed = parseShellRequest(message);
      if (!("data" in parsed))
        refuse("shape", "invalid_request", skips("safe-shape") ? { details: { message } } : {});
      const request = "data" in parsed ? (parsed.data as Request) : { request: {}, ...message };
      const attachments = request.request?.context?.attachments;
      if (Array.isArray(attachments) && inlineAttachment(attachments) !== undefined) refuse("inline");
      const asked: Answer = request.capabilities ?? {};
      const has = (name: string) => ![undefined, null, false].includes(asked[name]);
      const { denials, response } = await handleOnce(request, has);
      const denied = known.filter((name) => has(name) && !offered.includes(name));
      return {
        ...envelope,
        capability_denials: [
          ...denied.map((capability) => ({ capability, code: "not_supported" })),
          ...denials,
        ],
        response: { status: "success", engine_latency_ms: 1, ...response },
      };
    } catch (error) {
      return fail(error instanceof Refused ? error.error : { code: "internal_error", retryable: false });
    }
  };

  const receive = async (message: Request): Promise<Answer> => {
    const request = message !== undefined && deviation.read ? deviation.read(message) : message;
    const answer = await answerTo(request);
    return deviation.answer ? deviation.answer(answer, request) : answer;
  };
  return { receive };
};
