import type { BlockingEventType, DecisionFor, EventPayloadInput } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { callSafely, HarnessError, InvalidArgumentError } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { AhpUsageError } from "../errors.ts";
import type { Verdict } from "../verdict.ts";
import { clip } from "./clip.ts";
import { SupervisionError, type SupervisionErrorDetails } from "./supervision-error.ts";
import {
  resolveSupervision,
  type SupervisingClient,
  type SupervisionOptions,
} from "./supervision-options.ts";

/** Reports how an action ended, of several times the first. `cancelled`: its caller gave it up. */
export type ReportOutcome = (
  outcome: "success" | "error" | "cancelled",
  fields?: JsonObject,
  error?: unknown,
) => void;

/** An error as it is reported: its name, its code where it has one, its message up to a length. No stack. */
const describeError = (error: unknown, maxBytes: number): JsonObject => {
  if (!(error instanceof Error)) {
    return { name: "unknown", message: clip(typeof error === "string" ? error : "", maxBytes) };
  }
  const { code } = error as { code?: unknown };
  return defined({
    name: clip(error.name, 200),
    code: typeof code === "string" || typeof code === "number" ? clip(String(code), 200) : undefined,
    message: clip(error.message, maxBytes),
  });
};

/** A client with the options of one supervision. */
export class Supervision {
  readonly client: SupervisingClient;
  readonly options: ReturnType<typeof resolveSupervision>;

  /** Throws `invalid_argument`. */
  constructor(client: SupervisingClient, options: SupervisionOptions) {
    if (typeof client?.decide !== "function") {
      throw new InvalidArgumentError(
        "a supervised model or tool needs an AHP client as its own argument, before the options: superviseModel(model, client, options)",
      );
    }
    this.client = client;
    this.options = resolveSupervision(options);
  }

  get clock() {
    return this.options.clock;
  }

  get limits() {
    return this.options.limits;
  }

  /**
   * Asks the harness. A question that cannot be asked is a {@link SupervisionError}: `unavailable` (there was no handshake),
   * or `unjudgeable` (it is not a valid event).
   */
  async ask<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    signal: AbortSignal | undefined,
    details: SupervisionErrorDetails,
  ): Promise<Verdict<DecisionFor<T>>> {
    try {
      return await this.client.decide(eventType, payload, { ...this.options.fields(), signal });
    } catch (cause) {
      const isInvalid = AhpUsageError.isInstance(cause) && cause.code === "invalid_event";
      const message = cause instanceof Error ? cause.message : "it failed without an error";
      throw new SupervisionError(isInvalid ? "unjudgeable" : "unavailable", message, { ...details, cause });
    }
  }

  /** Begins to measure the duration of an action whose outcome will be reported. A report that cannot be sent changes nothing for the caller. */
  startReport(eventType: "post_action" | "post_response", subject: JsonObject): ReportOutcome {
    const startedAt = this.clock.elapsedMs();
    let isReported = false;
    return (outcome, fields, error) => {
      if (isReported) return;
      isReported = true;
      const payload = defined({
        ...subject,
        outcome,
        duration_ms: Math.max(0, Math.round(this.clock.elapsedMs() - startedAt)),
        ...fields,
        error: error === undefined ? undefined : describeError(error, this.limits.maxReportTextBytes),
      });
      try {
        this.client.notify(eventType, payload, this.options.fields());
      } catch (cause) {
        const failure = HarnessError.isInstance(cause)
          ? cause
          : new HarnessError("report_failed", `${eventType} could not be sent`, { cause });
        callSafely(() => this.options.onError?.(failure, { eventType }));
      }
    };
  }
}
