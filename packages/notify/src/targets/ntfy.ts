import { headlineOf, itemLines, type Notice, restLines } from "../notice.ts";
import type { Post } from "./post.ts";

/** ntfy's priorities, 1 to 5, by risk. */
const priorities: Readonly<Record<string, number>> = { low: 2, medium: 3, unknown: 3, high: 4, critical: 5 };
const maxMessageLength = 3500;

/** A notice for ntfy: JSON to the server's root, with the topic of the URL's path. ntfy makes attachments of messages over 4,096 bytes. */
export const ntfyPost = (notice: Notice, url: string, token: string | undefined): Post => {
  const server = new URL(url);
  const topic = server.pathname.replace(/^\/+|\/+$/g, "");
  const { items, link, total } = notice;
  const [first] = items;
  const lines = items.flatMap((item) => [...itemLines(item), ""]);
  const click = total === 1 && first !== undefined ? (first.answerLink ?? first.link) : link;
  const body = JSON.stringify({
    topic,
    title: headlineOf(notice),
    message: [...lines, ...restLines(notice)].join("\n").trim().slice(0, maxMessageLength),
    priority: Math.max(...items.map(({ risk }) => priorities[risk] ?? 3)),
    tags: ["raised_hand"],
    click,
  });
  return {
    url: server.origin,
    body,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  };
};
