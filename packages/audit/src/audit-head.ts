import { AuditError } from "./audit-error.ts";

/** Where a chain stands: the last sealed entry and the hash that binds it to everything before. */
export interface AuditHead {
  readonly seq: number;
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string;
}

/** What the first file of a log follows. */
export const genesis: AuditHead = { seq: 0, hash: "0".repeat(64) };

/** `42:9f86d0…`: a head as a string that can be stored elsewhere. */
export const formatHead = ({ seq, hash }: AuditHead): string => `${seq}:${hash}`;

/** Parses what `formatHead` returned. Throws `audit_invalid_head`. */
export const parseHead = (text: string): AuditHead => {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new AuditError("audit_invalid_head", "a head is a number, a colon and 64 hexadecimal digits");
  }
  return { seq: Number(match[1]), hash: match[2] };
};
