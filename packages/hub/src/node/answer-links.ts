import { createHmac } from "node:crypto";
import type { ApprovalRecord } from "@harnesskit/approvals";
import { type Clock, displayText } from "@harnesskit/wire";
import { isSame } from "./is-same.ts";

export interface AnswerLinkOptions {
  /** Who receives the link, as answers record it. */
  readonly for: string;
  /** How long it works, in milliseconds; at most as long as the question waits. */
  readonly forMs: number;
}

/** What a link lets its holder answer. */
export interface LinkedApproval {
  readonly id: string;
  readonly digest: string;
  readonly for: string;
}

const maxForLength = 64;

/**
 * Signed links that answer one approval, for a short time. That each works once follows from the approval: of all answers one counts. The
 * key is made from the hub's token, so a new token ends all links.
 */
export class AnswerLinks {
  readonly #key: Buffer;
  readonly #clock: Clock;

  constructor(token: string, clock: Clock) {
    this.#key = createHmac("sha256", token).update("answer-link-1").digest();
    this.#clock = clock;
  }

  token({ id, digest, expiresAtMs }: ApprovalRecord, options: AnswerLinkOptions): string {
    const untilMs = Math.min(expiresAtMs, this.#clock.now() + options.forMs);
    const name = displayText(options.for, { maxLength: maxForLength });
    const body = Buffer.from(JSON.stringify([id, digest, name, untilMs])).toString("base64url");
    return `${body}.${this.#sign(body)}`;
  }

  /** Undefined for a token that was not made here, was changed, or is too old. */
  read(token: string): LinkedApproval | undefined {
    const [body = "", signature = "", ...rest] = token.split(".");
    if (rest.length > 0 || !isSame(signature, this.#sign(body))) return undefined;
    // Only this class signs: what it signed has this shape.
    const text = Buffer.from(body, "base64url").toString("utf8");
    const [id, digest, name, untilMs] = JSON.parse(text) as [string, string, string, number];
    return this.#clock.now() < untilMs ? { id, digest, for: name } : undefined;
  }

  #sign(body: string): string {
    return createHmac("sha256", this.#key).update(body).digest("base64url");
  }
}
