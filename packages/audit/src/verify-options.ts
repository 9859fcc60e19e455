import type { AuditHead } from "./audit-head.ts";

/** SHA-256 of some bytes, 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

export interface VerifyOptions {
  /** A head that was kept elsewhere: it has to be in the log, or the log was cut or rewritten. @default none */
  readonly expectedHead?: AuditHead | undefined;
  /** What the first line has to follow. @default what the first line says itself */
  readonly previous?: AuditHead | undefined;
  /** Accepts an end that is not sealed, as the log of a living writer may have. @default false */
  readonly allowOpenEnd?: boolean | undefined;
  /** SHA-256. @default WebCrypto's */
  readonly sha256?: Sha256 | undefined;
  /** Bytes of a line; a longer one is wrong. @default 1048576 */
  readonly maxLineBytes?: number | undefined;
  /** Bytes between two seals; more are wrong. @default 16777216 */
  readonly maxBlockBytes?: number | undefined;
}
