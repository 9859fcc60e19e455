import type { NotifyTarget } from "../config.ts";
import type { Notice } from "../notice.ts";
import { sendEmail } from "./email.ts";
import { ntfyPost } from "./ntfy.ts";
import { type DeliveryContext, post } from "./post.ts";
import { slackPost } from "./slack.ts";
import { sendWebPush } from "./web-push.ts";
import { webhookPost } from "./webhook.ts";

/** A secret that was read: `parseNotifyConfig` leaves strings only. */
const read = (value: unknown): string => value as string;
const readOptional = (value: unknown): string | undefined => value as string | undefined;

/** Delivers a notice once. Rejects with a `NotifyError`. */
export const deliver = (notice: Notice, target: NotifyTarget, context: DeliveryContext): Promise<void> => {
  switch (target.kind) {
    case "webhook":
      return post(webhookPost(notice, read(target.url), readOptional(target.secret)), context);
    case "ntfy":
      return post(ntfyPost(notice, read(target.url), readOptional(target.token)), context);
    case "slack":
      return post(slackPost(notice, read(target.url)), context);
    case "web_push":
      return sendWebPush(notice, target, context);
    case "email":
      return sendEmail(notice, { url: read(target.url), from: target.from, to: target.to }, context);
  }
};
