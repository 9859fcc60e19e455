import { createHash } from "node:crypto";

/** `sha256:` and the hex digest. */
export const sha256 = (content: string | Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;
