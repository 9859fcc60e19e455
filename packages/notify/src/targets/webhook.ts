import { createHmac } from "node:crypto";
import type { Notice } from "../notice.ts";
import type { Post } from "./post.ts";

/** What a secret of Standard Webhooks in base64 begins with. */
export const secretPrefix = "whsec_";

/** A secret is base64 behind `whsec_`, as Standard Webhooks says, or any other string as it is. */
const signingKey = (secret: string): Buffer =>
  secret.startsWith(secretPrefix)
    ? Buffer.from(secret.slice(secretPrefix.length), "base64")
    : Buffer.from(secret, "utf8");

/** A notice as JSON, with the headers of Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
export const webhookPost = (notice: Notice, url: string, secret: string | undefined): Post => {
  const { id, atMs, items, total, link } = notice;
  const timestamp = String(Math.floor(atMs / 1000));
  const data = { approvals: items, total, link };
  const body = JSON.stringify({ type: "approvals.pending", timestamp: new Date(atMs).toISOString(), data });
  const headers: Record<string, string> = { "webhook-id": id, "webhook-timestamp": timestamp };
  if (secret !== undefined) {
    const mac = createHmac("sha256", signingKey(secret))
      .update(`${id}.${timestamp}.${body}`)
      .digest("base64");
    headers["webhook-signature"] = `v1,${mac}`;
  }
  return { url, headers, body };
};
