import type { Message, RuntimeMutant } from "./runtime-frames.ts";

const skip = (rule: string, ...kills: string[]): RuntimeMutant => ({
  name: `without ${rule}`,
  kills,
  skip: rule,
});
const sends = (name: string, send: (message: Message) => Message, ...kills: string[]): RuntimeMutant => ({
  name: `sends ${name}`,
  kills,
  send,
});

export const without = (value: Message, ...names: string[]) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => !names.includes(key)));
/** Changes the payload of messages of a type. */
export const payloadOf = (type: string, change: (payload: Message) => Message) => (message: Message) =>
  message.type === type ? { ...message, payload: change(message.payload) } : message;
export const nothing = (type: string) => (message: Message) => (message.type === type ? undefined : message);
const tools = (change: (tool: Message) => Message) =>
  payloadOf("agent.tools.register", (payload) => ({ ...payload, tools: payload.tools.map(change) }));
const result = (change: (payload: Message) => Message) => payloadOf("agent.tool.result", change);
const errors = (change: (error: Message) => Message) => (message: Message) => ({
  ...message,
  ...(message.error && { error: change(message.error) }),
  payload: { ...message.payload, ...(message.payload.error && { error: change(message.payload.error) }) },
});

export const runtimeAgentMutants: readonly RuntimeMutant[] = [
  skip("pieces", "RUN-6", "RUN-10"),
  skip("merged", "RUN-10"),
  skip("bytes", "RUN-7"),
  skip("utf8", "RUN-7"),
  skip("oversize", "RUN-13"),
  skip("low-limit", "RUN-11"),
  skip("garbage", "RUN-9", "RUN-32"),
  skip("envelope", "RUN-32"),
  skip("times", "RUN-36"),
  skip("nulls", "RUN-153"),
  skip("version", "RUN-141"),
  {
    ...sends("no version over TCP", (message) => without(message, "v"), "RUN-5", "RUN-30", "RUN-33"),
    transport: "tcp",
  },
  sends("ids that are not UUIDs", (message) => ({ ...message, id: `id-${message.id}` }), "RUN-35"),
  sends("one id", (message) => ({ ...message, id: "00000000-0000-4000-8000-000000000000" }), "RUN-34"),
  sends("a time of its own", (message) => ({ ...message, ts: "yesterday" }), "RUN-36"),
  sends(
    "no payload",
    (message) => (message.type === "agent.pong" ? without(message, "payload") : message),
    "RUN-30",
    "RUN-37",
  ),
  sends(
    "another type",
    (message) => (message.type === "agent.pong" ? { ...message, type: "core.pong" } : message),
    "RUN-54",
    "RUN-109",
  ),
  sends(
    "numbers as codes",
    errors((error) => ({ ...error, code: 7 })),
    "RUN-48",
  ),
  sends(
    "debug",
    errors((error) => ({ ...error, debug: { at: "here" } })),
    "RUN-52",
  ),
  skip("safe-errors", "RUN-50", "RUN-51", "RUN-129", "RUN-136"),
  skip("quiet", "RUN-117"),
  skip("hello-first", "RUN-55"),
  skip("token", "RUN-118"),
  skip("versions", "RUN-119"),
  sends(
    "no version of the agent",
    payloadOf("agent.hello", (payload) => without(payload, "agent_version")),
    "RUN-56",
    "RUN-148",
  ),
  sends(
    "its SDK as a string",
    payloadOf("agent.hello", (payload) => ({ ...payload, sdk: "reference" })),
    "RUN-57",
  ),
  sends(
    "version one",
    payloadOf("agent.hello", (payload) => ({ ...payload, agent_version: "one" })),
    "RUN-148",
  ),
  sends(
    "tools without a description",
    tools((tool) => without(tool, "description")),
    "RUN-66",
  ),
  sends(
    "tools without an agent",
    tools((tool) => ({ ...tool, tool_id: tool.name })),
    "RUN-67",
  ),
  sends(
    "tags as a string",
    tools((tool) => ({ ...tool, tags: "test" })),
    "RUN-68",
  ),
  sends("nothing of tools that it takes back", nothing("agent.tools.unregister"), "RUN-69"),
  skip("heartbeats", "RUN-103"),
  sends(
    "heartbeats without a status",
    payloadOf("agent.heartbeat", (payload) => without(payload, "status")),
    "RUN-104",
  ),
  sends("no pong", nothing("agent.pong"), "RUN-109", "RUN-39"),
  skip("in-reply-to", "RUN-39"),
  skip("errors-as-messages", "RUN-53"),
  skip("actors", "RUN-45", "RUN-47"),
  skip("known-fields", "RUN-123"),
  skip("unknown-types", "RUN-125", "RUN-142"),
  skip("unsolicited", "RUN-127", "RUN-142"),
  skip("order", "RUN-26"),
  skip("result-links", "RUN-43"),
  skip("stream-links", "RUN-44"),
  skip("ack-links", "RUN-147"),
  skip("accepted", "RUN-102"),
  skip("schemas", "RUN-89"),
  skip("one-result", "RUN-95"),
  skip("timeouts", "RUN-88", "RUN-95"),
  skip("unknown-tools", "RUN-137", "RUN-95"),
  skip("side-by-side", "RUN-28"),
  skip("seq", "RUN-91"),
  skip("partials", "RUN-92"),
  skip("done", "RUN-93"),
  skip("cancel", "RUN-100", "RUN-97"),
  skip("canceled-code", "RUN-97"),
  skip("times-of-calls", "RUN-98"),
  skip("busy", "RUN-19"),
  skip("input-limit", "RUN-21"),
  skip("output-limit", "RUN-23", "RUN-134"),
  skip("references", "RUN-135"),
  skip("bounded-streams", "RUN-133"),
  skip("frame-limit", "RUN-16"),
  sends(
    "succeeded for what failed",
    result((payload) => (payload.error ? { ...payload, status: "succeeded" } : payload)),
    "RUN-96",
  ),
];
