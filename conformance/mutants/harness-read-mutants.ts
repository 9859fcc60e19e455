import { deviating, type Mutant, within, without } from "./mutant.ts";
import type { HarnessDeviation, Request } from "./reference-harness.ts";

const read = deviating<HarnessDeviation, "read">("reads", "read");
const events = within(
  read,
  (change: (event: Request) => Request) => (message) =>
    message?.method === "ahp/event" && typeof message.params === "object"
      ? { ...message, params: change(message.params) }
      : message,
);
/** Refuses events of which something holds, as if their params were not valid. */
const refuses = within(
  events,
  (isRefused: (event: Request) => boolean) => (event) =>
    isRefused(event) ? { ...event, timestamp: 0 } : event,
);
const refusesPayload = (type: string) =>
  within(
    refuses,
    (isRefused: (payload: Request) => boolean) => (event) =>
      event?.event_type === type && isRefused(event.payload ?? {}),
  );

/** Harnesses that take a message for another one. */
export const harnessReadMutants: readonly Mutant<HarnessDeviation>[] = [
  read(
    "2.4 only",
    (message) =>
      message?.params?.protocol_version === "2.0"
        ? { ...message, params: { ...message.params, protocol_version: "3.0" } }
        : message,
    "AHP-11",
  ),
  refuses("unknown members as faults", (event) => "color" in (event ?? {}), "AHP-102"),
  refuses("null as a fault", (event) => event?.context === null, "AHP-101"),
  refuses(
    "small integers only",
    (event) => event?.context?.session_stats?.total_tokens === -1,
    "AHP-211",
    "AHP-129",
  ),
  refuses("UTC only", (event) => String(event?.timestamp).endsWith("+02:00"), "AHP-125"),
  refuses(
    "objects as payloads only",
    (event) => event?.event_type === "pre_prompt" && typeof event.payload !== "object",
    "AHP-160",
  ),
  refuses("nothing beyond the first level", (event) => event?.depth > 0 && event.depth < 11, "AHP-119"),
  events("events without their context", (event) => without(event, "context"), "AHP-20"),
  refusesPayload("context_perception")(
    "null in targets as a fault",
    ({ target }) => JSON.stringify(target ?? "").includes("null"),
    "AHP-146",
  ),
  refusesPayload("context_perception")(
    "times as strings only",
    ({ target }) => typeof target?.event?.time_range?.from === "number",
    "AHP-212",
  ),
  events(
    "context_perception without defaults",
    (event) =>
      event?.event_type === "context_perception" && event.payload?.domain === undefined
        ? { ...event, payload: { ...event.payload, domain: "coding" } }
        : event,
    "AHP-139",
  ),
  events(
    "no sources",
    (event) =>
      event?.event_type === "context_perception"
        ? { ...event, payload: { ...event.payload, constraints: { include_sources: false } } }
        : event,
    "AHP-140",
  ),
  ...["run_lifecycle", "verification", "post_action", "heartbeat"].map((type) =>
    read(
      `${type} without noting it`,
      (message) =>
        message?.params?.event_type === type && message.id === undefined
          ? { ...message, params: {} }
          : message,
      "AHP-30",
      ...(type === "run_lifecycle" ? ["AHP-44", "AHP-36"] : []),
      ...(type === "verification" ? ["AHP-45", "AHP-40"] : []),
    ),
  ),
  events(
    "task lists without what they do not need",
    (event) =>
      event?.event_type === "task_list" ? { ...event, payload: { ...event.payload, tasks: [] } } : event,
    "AHP-44",
    "AHP-38",
  ),
  events(
    "verifications without risks",
    (event) =>
      event?.event_type === "verification"
        ? { ...event, payload: without(event.payload, "residual_risks", "artifacts") }
        : event,
    "AHP-221",
  ),
  read(
    "query events in a batch",
    (message) =>
      message?.method === "ahp/batch"
        ? {
            ...message,
            params: {
              events: [message.params?.events ?? {}]
                .flat()
                .map((event) =>
                  event?.event_type === "query" ? { ...event, event_type: "pre_action" } : event,
                ),
            },
          }
        : message,
    "AHP-88",
  ),
  read(
    "notifications in a batch as faults",
    (message) =>
      message?.method === "ahp/batch" && message.params?.events?.length === 1
        ? {
            ...message,
            params: {
              events: message.params.events.map((event: Request) =>
                event?.event_type === "success" ? {} : event,
              ),
            },
          }
        : message,
    "AHP-31",
  ),
  read(
    "arrays element by element",
    (message) => (Array.isArray(message) ? (message[0] ?? {}) : message),
    "AHP-173",
  ),
];
