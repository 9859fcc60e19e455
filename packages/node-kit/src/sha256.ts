import { createHash } from "node:crypto";

/** SHA-256 as 64 hexadecimal digits. */
export const sha256Hex = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

/** SHA-256 with its name, as protocols write a digest: `sha256:` and 64 hexadecimal digits. */
export const sha256Digest = (content: string | Uint8Array): string => `sha256:${sha256Hex(content)}`;
