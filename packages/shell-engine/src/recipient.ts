import type { Capabilities, CapabilityDenial } from "@harnesskit/protocol/openharness";
import { noDenials } from "./capability-negotiation.ts";
import type { LogSubject } from "./shell-log.ts";

/** What is known of a message, as far as it was read. */
export interface Progress {
  readonly subject: LogSubject;
  denials: CapabilityDenial[];
  supported: Capabilities;
  readonly startedAt: number;
}

/** The recipient of a response. */
export interface Recipient {
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly denials: CapabilityDenial[];
  /** @default as for every shell */
  readonly supported?: Capabilities;
}

/** Of a message that could not be read. */
export const unknownRecipient: Recipient = {
  requestId: undefined,
  correlationId: undefined,
  denials: noDenials,
};
