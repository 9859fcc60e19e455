import { randomInt } from "node:crypto";
import type { Pairing } from "@harnesskit/protocol/hub";
import { BoundedMap, type Clock } from "@harnesskit/wire";

/** How long a link pairs a device. */
const pairingMs = 5 * 60_000;
const maxPairings = 100;
/** Crockford's base 32: nothing in it is read as something else. 12 of them are 60 bits. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const codeLength = 12;

interface OpenPairing extends Pairing {
  readonly expiresAtMs: number;
  isUsed: boolean;
}

/** As it is typed: in any case, with or without dashes, `O` for `0`, `I` or `L` for `1`. */
const plain = (code: string): string =>
  code
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1");

const newCode = (): string =>
  Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join("");

/** Codes that pair one device each, for a short time. */
export class Pairings {
  readonly #clock: Clock;
  readonly #open: BoundedMap<string, OpenPairing>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#open = new BoundedMap({ maxSize: maxPairings });
  }

  /** The code, in groups of four. */
  open(pairing: Pairing): { readonly code: string; readonly expiresAtMs: number } {
    const code = newCode();
    const expiresAtMs = this.#clock.now() + pairingMs;
    this.#open.set(code, { ...pairing, expiresAtMs, isUsed: false });
    return { code: code.replace(/(.{4})(?=.)/g, "$1-"), expiresAtMs };
  }

  /** What a code pairs; or why it does not. It is used then. */
  redeem(
    given: string,
  ): Pairing | { readonly refused: "pairing_unknown" | "pairing_used" | "pairing_expired" } {
    const found = this.#open.get(plain(given));
    if (found === undefined) return { refused: "pairing_unknown" };
    if (found.isUsed) return { refused: "pairing_used" };
    if (this.#clock.now() >= found.expiresAtMs) return { refused: "pairing_expired" };
    found.isUsed = true;
    return found;
  }
}
