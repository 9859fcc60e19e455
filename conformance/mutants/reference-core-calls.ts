import { randomUUID } from "node:crypto";
import type { Session } from "./reference-core-tools.ts";
import { fits, type Message } from "./runtime-frames.ts";

interface Call {
  readonly id: string;
  readonly params: Message;
  readonly session: Session;
  readonly chunks: object[];
  readonly settle: (result: object) => void;
  timer?: NodeJS.Timeout;
  readers: ((chunk: { chunk: object }) => void)[];
}

const failed = (code: string, status = "failed"): object => ({
  status,
  error: { code, message: `it ended with ${code}` },
});

/** What calls need of their core. */
interface CoreParts {
  readonly skips: (rule: string) => boolean;
  readonly sessions: Map<string, Session>;
  readonly options: () => Message;
  readonly audit: (action: string, more?: object) => void;
  readonly redact: (text: string) => string;
}

/** The calls of the reference core. */
export class CoreCalls {
  isStale: (session: Session) => boolean = () => false;
  readonly #running = new Map<string, Call>();
  readonly #waiting: Call[] = [];
  readonly #byName = new Map<string, Call>();
  readonly #directives = new Map<string, Message>();
  readonly #keys = new Map<string, Promise<object>>();
  readonly #core: CoreParts;

  constructor(core: CoreParts) {
    this.#core = core;
  }

  issue(directive: Message): object {
    const id = randomUUID();
    this.#directives.set(id, { ...directive });
    return { directive: id };
  }

  begin(params: Message): Promise<object> {
    const known = this.#keys.get(params.idempotency_key);
    if (known !== undefined && !this.#core.skips("keys")) return known;
    const session = this.#core.sessions.get(params.tool_id.split("/")[0]);
    const code = this.#refusalOf(params, session);
    if (code !== undefined || session === undefined)
      return Promise.resolve(failed(code ?? "agent.unavailable"));
    const result = new Promise<object>((settle) =>
      this.#start({
        id: this.#core.skips("call-ids") ? "the-call" : randomUUID(),
        params,
        session,
        chunks: [],
        settle,
        readers: [],
      }),
    );
    if (params.idempotency_key !== undefined) this.#keys.set(params.idempotency_key, result);
    return result;
  }

  cancel(name: string, reason: string | undefined): object {
    const call = this.#byName.get(name);
    if (call !== undefined && !this.#core.skips("cancel"))
      call.session.send("core.tool.cancel", { call_id: call.id, reason });
    if (call !== undefined && this.#core.skips("best-effort"))
      this.#end(call, failed("tool.canceled", "canceled"));
    return {};
  }

  chunk(name: string): Promise<object> {
    const call = this.#byName.get(name);
    const [first] = call?.chunks.splice(0, 1) ?? [];
    if (first !== undefined) return Promise.resolve({ chunk: first });
    return new Promise((resolve) => call?.readers.push(resolve));
  }

  takeStream(_session: Session, { payload }: Message): void {
    const call = this.#running.get(payload.call_id);
    if (call === undefined) {
      this.#stray();
      return;
    }
    const { channel, data } = payload;
    const chunk = { channel, data: "text" in data ? { text: this.#core.redact(data.text) } : data };
    if (this.#core.skips("streams")) return;
    const reader = call.readers.shift();
    if (reader !== undefined) reader({ chunk });
    else call.chunks.push(chunk);
  }

  takeResult(session: Session, { payload }: Message): void {
    const call = this.#core.skips("correlation")
      ? [...this.#running.values()][0]
      : this.#running.get(payload.call_id);
    if (call === undefined) {
      if (this.#core.skips("strays"))
        session.send("core.error", {}, { error: { code: "tool.unknown_call", message: "no such call" } });
      this.#stray();
      return;
    }
    const { status, output, error } = payload;
    const max = this.#core.options().max_tool_output_bytes ?? 1_000_000;
    const isLarge = JSON.stringify(output ?? {}).length > max && !this.#core.skips("output-limit");
    const isRefused = this.#core.skips("known-fields") && "color" in payload;
    const shown = error && { error: { ...error, message: this.#core.redact(error.message) } };
    if (isLarge || isRefused) this.#end(call, failed("tool.output_too_large"));
    else this.#end(call, { status, ...(output && { output }), ...shown });
  }

  /** The connection of an agent is over. */
  lose(session: Session): void {
    for (const call of this.#running.values())
      if (call.session === session)
        this.#end(call, failed(this.#core.skips("lost") ? "tool.failed" : "agent.lost"));
  }

  #stray(): void {
    if (!this.#core.skips("stray-audit")) this.#core.audit("tool.stray");
  }

  #refusalOf(
    { tool_id, input, caller, directive }: Message,
    session: Session | undefined,
  ): string | undefined {
    const tool = session?.tools.get(tool_id);
    if (session === undefined) return this.#core.skips("codes") ? "tool.refused" : "agent.unavailable";
    if (this.isStale(session)) return "agent.unavailable";
    if (tool === undefined) return this.#core.skips("unregister") ? undefined : "tool.not_found";
    if (caller?.id === "conformance-denied" && !this.#core.skips("callers")) return "tool.refused";
    if (session.launch.permissions.includes("conformance-denied") && !this.#core.skips("permissions"))
      return "tool.refused";
    const max = this.#core.options().max_tool_input_bytes ?? 1_000_000;
    if (JSON.stringify(input).length > max && !this.#core.skips("input-limit")) return "tool.input_too_large";
    if (!fits(input, tool.input_schema)) return "tool.invalid_input";
    if (!tool.requires_directive || this.#core.skips("directives")) return undefined;
    const issued = this.#directives.get(directive);
    if (issued === undefined || (issued.max_uses < 1 && !this.#core.skips("uses")))
      return "tool.directive_required";
    issued.max_uses -= 1;
    return undefined;
  }

  #start(call: Call): void {
    const { max_inflight_requests = 256, max_queued_calls = 1024 } = this.#core.options();
    if (this.#running.size < max_inflight_requests || this.#core.skips("inflight")) this.#send(call);
    else if (this.#waiting.length < max_queued_calls && !this.#core.skips("queue")) this.#waiting.push(call);
    else call.settle(failed("tool.busy"));
  }

  #send(call: Call): void {
    const { id, params, session } = call;
    const {
      name,
      tool_id,
      input,
      timeout_ms,
      idempotency_key,
      caller,
      context,
      correlation_id,
      causation_id,
      actor,
    } = params;
    this.#running.set(id, call);
    this.#byName.set(name, call);
    const more = this.#core.skips("options") ? {} : { timeout_ms, idempotency_key, caller, context };
    const links = {
      request_id: this.#core.skips("uuids") ? `r-${id}` : randomUUID(),
      correlation_id,
      causation_id,
      actor,
    };
    if (this.#core.skips("request-ids")) Object.assign(links, { request_id: undefined });
    if (this.#core.skips("correlation-ids")) Object.assign(links, { correlation_id: undefined });
    if (this.#core.skips("actors")) Object.assign(links, { actor: undefined });
    if (!session.send("core.tool.call", { call_id: id, tool_id, input, ...more }, links)) {
      this.#end(call, failed("protocol.frame_too_large"));
      return;
    }
    if (!this.#core.skips("call-audit"))
      this.#core.audit("tool.call", { call_id: id, ...(this.#core.skips("content") && { input }) });
    if (timeout_ms === undefined) return;
    call.timer = setTimeout(() => {
      session.send("core.tool.cancel", { call_id: id });
      this.#end(call, failed(this.#core.skips("codes") ? "tool.refused" : "tool.timeout"));
    }, timeout_ms);
  }

  #end(call: Call, result: object): void {
    clearTimeout(call.timer);
    this.#running.delete(call.id);
    this.#core.audit("tool.result", this.#core.skips("call-audit") ? {} : { call_id: call.id });
    call.settle(result);
    const next = this.#waiting.shift();
    if (next !== undefined) this.#send(next);
  }
}
