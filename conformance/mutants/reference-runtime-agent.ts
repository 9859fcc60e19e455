import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { StartModule } from "../src/index.ts";
import {
  envelopeOf,
  fits,
  hasEnvelope,
  hasOnly,
  linksOf,
  type Message,
  type RuntimeDeviation,
  readMessages,
  writeMessage,
} from "./runtime-frames.ts";

const agentId = "conformance.agent";
const text = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
};
const steps = {
  type: "object",
  properties: { steps: { type: "array" } },
  required: ["steps"],
  additionalProperties: false,
};
const schemas: Record<string, object> = { echo: text, act: steps, extra: text };
const limit = 100_000;

interface Running {
  readonly call: Message;
  end(payload: object): void;
  streamed: number;
  seq: number;
  isFull: boolean;
}

/** What a tool fails with. */
class Failed {
  readonly error: { code: string; message: string };
  constructor(code: string, message: string) {
    this.error = { code, message };
  }
}

/** A small agent of the runtime protocol with the test tools of the suite, or a mutant of it. */
export const startReferenceRuntimeAgent =
  (deviation: RuntimeDeviation = {}): StartModule =>
  async ({ endpoint, token, directory }) => {
    const skips = (rule: string) => deviation.skip === rule;
    const [, path = "", port] = endpoint.split(":");
    const socket = endpoint.startsWith("unix:") ? connect({ path }) : connect(Number(port));
    socket.setNoDelay(true);
    const running = new Map<string, Running>();
    const known = new Set<string>();
    const startedAt = Date.now();
    const logged = skips("quiet") ? [`connecting with ${token}`] : [];
    let welcome: Message;
    let beats: NodeJS.Timeout | undefined;

    const send = (type: string, payload: object, more: object = {}): boolean =>
      writeMessage(
        socket,
        envelopeOf(type, payload, more),
        deviation,
        skips("frame-limit") ? undefined : welcome?.max_frame_bytes,
      );
    const replyTo = ({ id }: Message): object => ({ in_reply_to: skips("in-reply-to") ? "unknown" : id });
    const violated = (code: string, message: Message): void => {
      send(
        "agent.error",
        {},
        {
          ...(typeof message?.id === "string" ? replyTo(message) : {}),
          error: { code, message: "the core broke the protocol" },
        },
      );
      socket.end();
    };

    const stream = (state: Running, channel: string, data: Message): void => {
      const { call } = state;
      if (state.isFull && !skips("done")) return;
      state.streamed += 64 + JSON.stringify(data).length;
      state.isFull ||= state.streamed > limit && !skips("bounded-streams");
      state.seq += 1;
      const seq = skips("seq") ? 0 : state.seq;
      const done = state.isFull ? { done: true } : {};
      const shown = skips("partials") && channel === "partial_result" ? { text: JSON.stringify(data) } : data;
      send(
        "agent.tool.stream",
        { call_id: call.payload.call_id, seq, channel, data: shown, ...done },
        skips("stream-links") ? {} : linksOf(call),
      );
    };

    const sized = (size: number): object => {
      if (size <= limit || skips("output-limit")) return { text: "x".repeat(size) };
      if (skips("references")) throw new Failed("tool.output_too_large", "the output is too large");
      const file = join(directory, "output.json");
      writeFileSync(file, JSON.stringify({ text: "x".repeat(size) }));
      return { output_file: { path: file, size_bytes: size }, truncated: true };
    };

    const act = async (state: Running): Promise<object> => {
      let output = {};
      for (const step of state.call.payload.input.steps) {
        for (const channel of ["status", "stdout", "stderr", "log"])
          if (channel in step) stream(state, channel, { text: step[channel] });
        if ("partial" in step) stream(state, "partial_result", { json: step.partial });
        for (let sent = 0; sent < (step.flood ?? 0); sent++)
          stream(state, "stdout", { text: "x".repeat(1000) });
        if ("unregister" in step)
          send("agent.tools.unregister", { tool_ids: [`${agentId}/${step.unregister}`] });
        if ("fail" in step) throw new Failed(step.fail, "as it was asked");
        if ("throw" in step)
          throw new Failed(
            "tool.failed",
            skips("safe-errors") ? `${step.throw}\n at f (a.ts:1:2)` : "the tool failed",
          );
        if ("wait" in step) await new Promise(() => {});
        if ("size" in step) output = sized(step.size);
        if ("return" in step) output = step.return;
      }
      return output;
    };

    const refusalOf = ({ payload, actor }: Message): Failed | undefined => {
      const { input, tool_id } = payload;
      const schema = schemas[tool_id.replace(`${agentId}/`, "")];
      if (skips("actors") && actor?.type === "agent")
        return new Failed("tool.refused", "agents may not call");
      if (skips("known-fields") && "color" in payload)
        return new Failed("tool.invalid_input", "there is no color");
      if (schema === undefined) return new Failed("tool.not_found", "no such tool");
      if (running.size >= 256 && !skips("busy")) return new Failed("tool.busy", "too many calls run");
      if (JSON.stringify(input).length > limit && !skips("input-limit"))
        return new Failed("tool.input_too_large", "the input is too large");
      if (!fits(input, schema) && !skips("schemas"))
        return new Failed("tool.invalid_input", "the input does not fit");
      return undefined;
    };

    const begin = (call: Message): void => {
      const { call_id, timeout_ms, tool_id, input } = call.payload;
      if (known.has(call_id) && !skips("one-result")) return;
      if (skips("side-by-side") && running.size > 0) return;
      known.add(call_id);
      const started_at = new Date().toISOString();
      const refused = refusalOf(call);
      if (refused?.error.code === "tool.not_found" && skips("unknown-tools")) return;
      let timer: NodeJS.Timeout | undefined;
      const state: Running = {
        call,
        streamed: 0,
        seq: 0,
        isFull: false,
        end(payload) {
          clearTimeout(timer);
          if (!running.delete(call_id)) return;
          const finished_at = skips("times-of-calls") ? "now" : new Date().toISOString();
          const links = skips("result-links") ? {} : linksOf(call);
          const result = { call_id, ...payload, started_at, finished_at };
          if (send("agent.tool.result", result, links)) return;
          const error = { code: "tool.output_too_large", message: "the result exceeds the frame" };
          send("agent.tool.result", { call_id, status: "failed", error }, links);
        },
      };
      running.set(call_id, state);
      if (refused !== undefined) {
        state.end({ status: "failed", error: refused.error });
        return;
      }
      if (timeout_ms !== undefined && !skips("timeouts"))
        timer = setTimeout(
          () => state.end({ status: "failed", error: { code: "tool.timeout", message: "it took too long" } }),
          timeout_ms,
        );
      const work = tool_id.endsWith("/act") ? act(state) : Promise.resolve({ text: input.text });
      work.then(
        (output) => state.end({ status: "succeeded", output }),
        ({ error }: Failed) => state.end({ status: "failed", error }),
      );
    };

    const cancel = (message: Message): void => {
      const { call_id } = message.payload;
      const state = running.get(call_id);
      const links = skips("ack-links") ? {} : linksOf(state?.call ?? message);
      send(
        "agent.tool.cancel_ack",
        { call_id, accepted: skips("accepted") || state !== undefined },
        { ...links, ...replyTo(message) },
      );
      if (!skips("cancel"))
        state?.end({
          status: "canceled",
          error: { code: skips("canceled-code") ? "stopped" : "tool.canceled", message: "it was cancelled" },
        });
    };

    const handle = (message: Message): void => {
      const { type, payload } = message;
      if (type === "core.welcome") {
        if (
          skips("known-fields") &&
          !hasOnly(
            payload,
            "accepted_version",
            "session_id",
            "heartbeat_interval_ms",
            "max_frame_bytes",
            "server",
          )
        ) {
          violated("protocol.invalid_message", message);
          return;
        }
        welcome = payload;
        const tools = Object.entries(schemas).map(([name, input_schema]) => ({
          tool_id: `${agentId}/${name}`,
          name,
          description: `The tool ${name}`,
          input_schema,
          side_effects: false,
        }));
        send("agent.tools.register", { tools });
        const beat = (): void =>
          void send("agent.heartbeat", {
            session_id: payload.session_id,
            uptime_ms: Date.now() - startedAt,
            inflight_calls: running.size,
            status: "ok",
          });
        if (!skips("heartbeats"))
          beats = setInterval(beat, skips("interval") ? 5 : payload.heartbeat_interval_ms);
      } else if (type === "core.tool.call") begin(message);
      else if (type === "core.tool.cancel") cancel(message);
      else if (type === "core.ping") {
        const pong = (): void => void send("agent.pong", {}, replyTo(message));
        if (skips("order")) setTimeout(pong, 20);
        else if (!(skips("errors-as-messages") && message.error) && !(skips("actors") && message.actor))
          pong();
      } else if (!type.startsWith("core.tools.") && type !== "core.goodbye" && type !== "core.error") {
        const isAsked = message.request_id !== undefined && message.in_reply_to === undefined;
        if ((isAsked && !skips("unknown-types")) || (!isAsked && skips("unsolicited")))
          send(
            "agent.error",
            {},
            {
              ...replyTo(message),
              ...linksOf(message),
              error: { code: "protocol.unknown_type", message: "the type is not known" },
            },
          );
      }
    };

    readMessages(
      socket,
      4_194_304,
      skips,
      (message) => {
        if (!hasEnvelope(message, skips))
          return skips("garbage") ? undefined : violated("protocol.invalid_message", message);
        if (message.v !== 1 && !skips("version") && !skips("envelope"))
          return violated("protocol.unsupported_version", message);
        handle(message);
      },
      () => socket.destroy(),
    );
    socket.on("close", () => clearInterval(beats));
    const protocol = {
      supported_versions: skips("versions") ? [2] : [1],
      capabilities: ["tools", "streaming", "cancellation"],
    };
    const hello = {
      session_token: skips("token") ? "another" : token,
      agent_id: agentId,
      agent_version: "1.0.0",
      protocol,
      sdk: { name: "reference", version: "1.0.0" },
    };
    if (skips("hello-first"))
      send("agent.heartbeat", { session_id: "none", uptime_ms: 0, inflight_calls: 0, status: "ok" });
    send("agent.hello", hello);
    return {
      log: () => logged.join("\n"),
      async close() {
        clearInterval(beats);
        socket.destroy();
      },
    };
  };
