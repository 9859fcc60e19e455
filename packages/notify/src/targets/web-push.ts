import { displayText } from "@harnesskit/wire";
import webPush from "web-push";
import type { NotifyConfig } from "../config.ts";
import type { Notice } from "../notice.ts";
import { NotifyError } from "../notify-error.ts";
import type { PushKeys } from "../push-keys.ts";
import { type DeliveryContext, post } from "./post.ts";

/** A browser that asked for pushes (RFC 8030). */
export interface WebPushTarget {
  readonly kind: "web_push";
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  readonly vapid: PushKeys & {
    /** Whom the push service may turn to: an `https:` or `mailto:` URL. */
    readonly subject: string;
  };
}

/** How long a push service keeps a push for a device that is off, in seconds. */
const ttlSeconds = 3600;
/** A push holds 4 kB; these are bounded so that five of them fit. */
const maxItems = 5;
const maxNameLength = 60;

const short = (text: string): string => displayText(text, { maxLength: maxNameLength });

/** What a push says: who asks for which tool, and the risk. Nothing of the input, and no words about it. */
const payloadOf = ({ items, total }: Notice): string =>
  JSON.stringify({
    total,
    items: items
      .slice(0, maxItems)
      .map(({ id, agent, tool, risk }) => ({ id, agent: short(agent), tool: short(tool), risk })),
  });

/** Encrypts a notice for its browser alone (RFC 8291), and hands it to the push service. Rejects with a `NotifyError`. */
export const sendWebPush = async (
  notice: Notice,
  { endpoint, keys, vapid }: WebPushTarget,
  context: DeliveryContext,
): Promise<void> => {
  const { headers, body } = requestOf(notice, { endpoint, keys, vapid });
  await post({ url: endpoint, headers, body }, context);
};

const requestOf = (notice: Notice, { endpoint, keys, vapid }: Omit<WebPushTarget, "kind">) => {
  try {
    const details = webPush.generateRequestDetails({ endpoint, keys: { ...keys } }, payloadOf(notice), {
      vapidDetails: vapid,
      TTL: ttlSeconds,
      urgency: "high",
    });
    // The platform's fetch counts the bytes itself.
    const { "Content-Length": _, ...headers } = details.headers;
    return { headers: stringsOf(headers), body: new Uint8Array(details.body ?? []) };
  } catch (cause) {
    const text = "its keys are not those of a browser, or the subject is not an https: or mailto: URL";
    throw new NotifyError("target_gone", text, { cause, isFinal: true });
  }
};

const stringsOf = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));

/** The configuration of a notifier that pushes to one browser, at once. */
export const webPushConfig = (name: string, target: WebPushTarget): NotifyConfig => ({
  version: 1,
  targets: { [name]: target },
  notify: [{ to: [name], afterMinutes: 0 }],
  quiet: [],
});
