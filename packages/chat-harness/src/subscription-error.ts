import { HarnessError } from "@harnesskit/wire";
import { subscriptionFailed } from "./failure.ts";

/** A pause is not stored, because its signal would not find it. */
export class SubscriptionError extends HarnessError {
  override readonly name = "SubscriptionError";
  readonly category = subscriptionFailed;
  constructor(message: string, options?: { cause?: unknown }) {
    super(subscriptionFailed, message, options);
  }
}
