import type { BlockingEventType, DecisionFor, EventPayloadInput } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { HarnessError, quietly } from "@harnesskit/wire";
import { AhpUsageError } from "../errors.ts";
import type { Verdict } from "../verdict.ts";
import { SupervisionError, type SupervisionErrorDetails } from "./supervision-error.ts";
import {
  type ResolvedSupervision,
  resolveSupervision,
  type SupervisingClient,
  type SupervisionOptions,
} from "./supervision-options.ts";

const message = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : "it failed without an error";

/** A client with the options of one supervision: what every part of it asks and tells through. */
export class Supervision {
  readonly client: SupervisingClient;
  readonly options: ResolvedSupervision;

  /** Throws `invalid_argument`. */
  constructor(client: SupervisingClient, options: SupervisionOptions) {
    this.client = client;
    this.options = resolveSupervision(options);
  }

  get clock() {
    return this.options.clock;
  }

  /**
   * Asks the harness. Whatever keeps the question from being asked is a {@link SupervisionError}: `unavailable` (there was
   * no handshake), or `unjudgeable` (it is no event).
   */
  async ask<T extends BlockingEventType>(
    eventType: T,
    payload: EventPayloadInput<T>,
    signal: AbortSignal | undefined,
    details: SupervisionErrorDetails,
  ): Promise<Verdict<DecisionFor<T>>> {
    try {
      const fields = this.options.fields();
      return await this.client.sendTyped(eventType, payload, { ...fields, ...(signal && { signal }) });
    } catch (cause) {
      const isBadEvent = AhpUsageError.isInstance(cause) && cause.code === "invalid_event";
      const code = isBadEvent ? "unjudgeable" : "unavailable";
      throw new SupervisionError(code, message(cause), { ...details, cause });
    }
  }

  /** Tells the harness. What was done is done: that it could not be told changes nothing for who did it. */
  report(eventType: "post_action" | "post_response", payload: JsonObject): void {
    try {
      this.client.notify(eventType, payload as JsonValue, this.options.fields());
    } catch (cause) {
      const error = HarnessError.isInstance(cause)
        ? cause
        : new HarnessError("report_failed", `${eventType} could not be sent`, { cause });
      quietly(() => this.options.onError?.(error));
    }
  }
}
