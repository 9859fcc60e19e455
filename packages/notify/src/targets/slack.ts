import { headlineOf, type Notice, type NoticeItem, restLines } from "../notice.ts";
import type { Post } from "./post.ts";

/** Slack reads `&`, `<` and `>` as the start of its own marks. */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const link = (url: string, label: string): string => `<${escaped(url).replaceAll("|", "%7C")}|${label}>`;

const plain = (text: string) => ({ type: "plain_text", text, emoji: false });

const section = ({ title, agent, session, risk, reason, expiresAtMs, ...links }: NoticeItem) => ({
  type: "section",
  text: {
    type: "mrkdwn",
    verbatim: true,
    text: [
      escaped(title),
      `Agent: ${escaped(agent)}, session ${escaped(session)}`,
      `Risk: ${escaped(risk)}`,
      `Why it asks: ${escaped(reason)}`,
      `Expires: ${new Date(expiresAtMs).toISOString()}`,
      [link(links.link, "See it"), ...(links.answerLink ? [link(links.answerLink, "Answer it")] : [])].join(
        "  ",
      ),
    ].join("\n"),
  },
});

/** A notice for an incoming webhook: blocks, and the text that notifications of Slack show. */
export const slackPost = (notice: Notice, url: string): Post => {
  const headline = headlineOf(notice);
  const rest = restLines(notice).map((text) => ({ type: "context", elements: [plain(text)] }));
  const blocks = [{ type: "header", text: plain(headline) }, ...notice.items.map(section), ...rest];
  return { url, body: JSON.stringify({ text: headline, blocks }) };
};
