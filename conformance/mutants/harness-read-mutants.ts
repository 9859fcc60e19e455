import { eventOf, type HarnessMutant, read, refusesPayload, refusing, without } from "./harness-mutant.ts";
import type { Request } from "./reference-harness.ts";

/** Harnesses that take a message for another one. */
export const harnessReadMutants: readonly HarnessMutant[] = [
  read(
    "2.4 only",
    (message) =>
      message?.params?.protocol_version === "2.0"
        ? { ...message, params: { ...message.params, protocol_version: "3.0" } }
        : message,
    "AHP-11",
  ),
  read(
    "unknown members as faults",
    refusing((event) => "color" in (event ?? {})),
    "AHP-102",
  ),
  read(
    "null as a fault",
    refusing((event) => event?.context === null),
    "AHP-101",
  ),
  read(
    "small integers only",
    refusing((event) => event?.context?.session_stats?.total_tokens === -1),
    "AHP-211",
    "AHP-129",
  ),
  read(
    "UTC only",
    refusing((event) => String(event?.timestamp).endsWith("+02:00")),
    "AHP-125",
  ),
  read(
    "objects as payloads only",
    refusing((event) => event?.event_type === "pre_prompt" && typeof event.payload !== "object"),
    "AHP-160",
  ),
  read(
    "nothing beyond the first level",
    refusing((event) => event?.depth > 0 && event.depth < 11),
    "AHP-119",
  ),
  read(
    "events without their context",
    eventOf((event) => without(event, "context")),
    "AHP-20",
  ),
  read(
    "null in targets as a fault",
    refusesPayload("context_perception", ({ target }) => JSON.stringify(target ?? "").includes("null")),
    "AHP-146",
  ),
  read(
    "times as strings only",
    refusesPayload("context_perception", ({ target }) => typeof target?.event?.time_range?.from === "number"),
    "AHP-212",
  ),
  read(
    "context_perception without defaults",
    eventOf((event) =>
      event?.event_type === "context_perception" && event.payload?.domain === undefined
        ? { ...event, payload: { ...event.payload, domain: "coding" } }
        : event,
    ),
    "AHP-139",
  ),
  read(
    "no sources",
    eventOf((event) =>
      event?.event_type === "context_perception"
        ? { ...event, payload: { ...event.payload, constraints: { include_sources: false } } }
        : event,
    ),
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
  read(
    "task lists without what they do not need",
    eventOf((event) =>
      event?.event_type === "task_list" ? { ...event, payload: { ...event.payload, tasks: [] } } : event,
    ),
    "AHP-44",
    "AHP-38",
  ),
  read(
    "verifications without risks",
    eventOf((event) =>
      event?.event_type === "verification"
        ? { ...event, payload: without(event.payload, "residual_risks", "artifacts") }
        : event,
    ),
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
