import { headlineOf, type Notice, type NoticeItem, restLines } from "../notice.ts";
import type { Post } from "./post.ts";

/** Slack reads `&`, `<` and `>` as the start of its own marks. */
const escapeMarkup = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const link = (url: string, label: string): string => `<${escapeMarkup(url).replaceAll("|", "%7C")}|${label}>`;

const plainText = (text: string) => ({ type: "plain_text", text, emoji: false });

const section = ({ title, agent, session, risk, reason, expiresAtMs, ...links }: NoticeItem) => ({
  type: "section",
  text: {
    type: "mrkdwn",
    verbatim: true,
    text: [
      escapeMarkup(title),
      `Agent: ${escapeMarkup(agent)}, session ${escapeMarkup(session)}`,
      `Risk: ${escapeMarkup(risk)}`,
      `Why it asks: ${escapeMarkup(reason)}`,
      `Expires: ${new Date(expiresAtMs).toISOString()}`,
      [link(links.link, "See it"), ...(links.answerLink ? [link(links.answerLink, "Answer it")] : [])].join(
        "  ",
      ),
    ].join("\n"),
  },
});

/** A notice for an incoming webhook: blocks, and what notifications of Slack show. */
export const slackPost = (notice: Notice, url: string): Post => {
  const headline = headlineOf(notice);
  const rest = restLines(notice).map((text) => ({ type: "context", elements: [plainText(text)] }));
  const blocks = [{ type: "header", text: plainText(headline) }, ...notice.items.map(section), ...rest];
  return { url, body: JSON.stringify({ text: headline, blocks }) };
};
