import { InvalidArgumentError } from "@harnesskit/wire";

/** What a continuation token says. Only the engine that signed it reads it, and it holds no secret. */
export interface ContinuationClaims {
  readonly id: string;
  readonly expiresAtMs: number;
  readonly session: string;
  readonly conversation?: string | undefined;
  readonly run?: string | undefined;
  readonly sop?: string | undefined;
  /** Who goes on: `intent`, `sop:ID`, `plugin:ID` or `business:KEY`. Undefined for one that only leads back to a session. */
  readonly route?: string | undefined;
  readonly step?: string | undefined;
  /** The digest of what the user was asked. */
  readonly digest?: string | undefined;
  /** Whether data of the run wait in the store. */
  readonly hasData?: true | undefined;
}

const prefix = "hk1";
/** What a token has beside ids: its own, when it expires, a digest, the signature. */
const maxOwnLength = 1024;
/** The ids that it may have, and how many characters one of theirs becomes at most: an escape, in base64. */
const maxIds = 6;
const maxLengthPerUnit = 8;
const minKeyBytes = 32;

/** Whether a token claims to be one of an engine of this project. */
export const isEngineToken = (token: string): boolean => token.startsWith(`${prefix}.`);

const toBase64Url = (bytes: Uint8Array): string => {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  // One spelling of a token only: the unused bits of the last character must be zero.
  return toBase64Url(bytes) === text ? bytes : undefined;
};

/** Signs continuations with HMAC-SHA-256, and checks them. The owner is signed along without being in the token. */
export class ContinuationSigner {
  readonly #secret: Uint8Array<ArrayBuffer>;
  readonly #maxTokenLength: number;
  #key: Promise<CryptoKey> | undefined;

  /** Throws `invalid_argument` for a key below 32 bytes. */
  constructor(secret: Uint8Array, maxIdLength: number) {
    if (!(secret instanceof Uint8Array) || secret.byteLength < minKeyBytes) {
      throw new InvalidArgumentError(`continuationKey has at least ${minKeyBytes} bytes`);
    }
    this.#secret = Uint8Array.from(secret);
    this.#maxTokenLength = maxOwnLength + maxIds * maxLengthPerUnit * maxIdLength;
  }

  async sign(claims: ContinuationClaims, owner: string): Promise<string> {
    const body = toBase64Url(new TextEncoder().encode(JSON.stringify(claims)));
    const signed = await crypto.subtle.sign("HMAC", await this.#importKey(), this.#signed(body, owner));
    return `${prefix}.${body}.${toBase64Url(new Uint8Array(signed))}`;
  }

  /** What the token says, if it was signed here for this owner. Whether it has expired or was used is not looked at. */
  async verify(token: string, owner: string): Promise<ContinuationClaims | undefined> {
    if (token.length > this.#maxTokenLength) return undefined;
    const [kind, body = "", mac = "", ...more] = token.split(".");
    if (kind !== prefix || more.length > 0) return undefined;
    const bytes = fromBase64Url(mac);
    const text = fromBase64Url(body);
    if (bytes === undefined || text === undefined) return undefined;
    const key = await this.#importKey();
    if (!(await crypto.subtle.verify("HMAC", key, bytes, this.#signed(body, owner)))) return undefined;
    return JSON.parse(new TextDecoder().decode(text)) as ContinuationClaims;
  }

  #signed(body: string, owner: string): Uint8Array<ArrayBuffer> {
    // As JSON, because UTF-8 has one and the same form for all halves of characters.
    return Uint8Array.from(new TextEncoder().encode(`${prefix}.${body}.${JSON.stringify(owner)}`));
  }

  #importKey(): Promise<CryptoKey> {
    this.#key ??= crypto.subtle.importKey("raw", this.#secret, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
      "verify",
    ]);
    return this.#key;
  }
}
