import { Buffer } from "node:buffer";
import { headlineOf, itemLines, type Notice, restLines } from "../notice.ts";
import type { Post } from "./post.ts";

/** ntfy's priorities, 1 to 5, by risk. */
const priorities: Readonly<Record<string, number>> = { low: 2, medium: 3, unknown: 4, high: 4, critical: 5 };
/** In bytes: ntfy makes an attachment of a message over 4,096. */
const maxMessageBytes = 3800;

/** As many approvals as fit, each whole, and how many there are more. */
const noticeMessage = (notice: Notice): string => {
  let text = "";
  for (const [index, item] of notice.items.entries()) {
    const rest = restLines({ ...notice, items: notice.items.slice(0, index + 1) });
    const next = [text, ...itemLines(item), ""].filter((line, at) => at > 0 || line !== "").join("\n");
    if (Buffer.byteLength([next, ...rest].join("\n")) > maxMessageBytes && index > 0)
      return [text, ...restLines({ ...notice, items: notice.items.slice(0, index) })].join("\n").trim();
    text = next;
  }
  return [text, ...restLines(notice)].join("\n").trim();
};

/** A notice for ntfy: JSON to the server's root, with the topic of the URL's path. */
export const ntfyPost = (notice: Notice, url: string, token: string | undefined): Post => {
  const server = new URL(url);
  const topic = server.pathname.replace(/^\/+|\/+$/g, "");
  const { items, link, total } = notice;
  const [first] = items;
  const click = total === 1 && first !== undefined ? (first.answerLink ?? first.link) : link;
  const body = JSON.stringify({
    topic,
    title: headlineOf(notice),
    message: noticeMessage(notice),
    priority: Math.max(...items.map(({ risk }) => priorities[risk] ?? 3)),
    tags: ["raised_hand"],
    click,
  });
  return {
    url: server.origin,
    body,
    headers: token === undefined ? undefined : { authorization: `Bearer ${token}` },
  };
};
