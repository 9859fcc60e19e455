import { factLines, headlineOf, type Notice, type NoticeItem, restLines } from "../notice.ts";
import type { Post } from "./post.ts";

/** Slack reads `&`, `<` and `>` as the start of its own marks. */
const escapeMarkup = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const link = (url: string, label: string): string => `<${escapeMarkup(url).replaceAll("|", "%7C")}|${label}>`;

const plainText = (text: string) => ({ type: "plain_text", text, emoji: false });

/** Values stand in plain text, in which nothing is a mark; only the links, which are ours, are `mrkdwn`. */
const sections = (item: NoticeItem) => {
  const shown = [link(item.link, "See it"), ...(item.answerLink ? [link(item.answerLink, "Answer it")] : [])];
  return [
    { type: "section", text: plainText(factLines(item).join("\n")) },
    { type: "section", text: { type: "mrkdwn", verbatim: true, text: shown.join("  ") } },
  ];
};

/** A notice for an incoming webhook: blocks, and what notifications of Slack show. */
export const slackPost = (notice: Notice, url: string): Post => {
  const headline = headlineOf(notice);
  const rest = restLines(notice).map((text) => ({ type: "context", elements: [plainText(text)] }));
  const blocks = [{ type: "header", text: plainText(headline) }, ...notice.items.flatMap(sections), ...rest];
  return { url, body: JSON.stringify({ text: headline, blocks }) };
};
