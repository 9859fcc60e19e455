import type { ApprovalSubject, FieldPattern, GrantTerms } from "@harnesskit/protocol/hub";
import { canonicalJson } from "@harnesskit/wire";
import { describeCall } from "./describe-call.ts";
import { breadthWarnings } from "./grant-breadth.ts";
import { quoted, safeLine, wholeText } from "./view-lines.ts";

const describeField = (pattern: FieldPattern): string => {
  if ("any" in pattern) return "anything, or absent";
  if ("is" in pattern) return `exactly ${wholeText(canonicalJson(pattern.is))}`;
  if ("under" in pattern) return `a path in ${quoted(pattern.under)} or below`;
  return `starts with ${quoted(pattern.startsWith)} and goes on with letters, digits, spaces or _ . / : = @ , + -`;
};

const reachText = ({ session, directory }: GrantTerms): string => {
  if (session !== undefined) return `, in the session ${wholeText(session)}`;
  if (directory === undefined) return ", in all its sessions";
  return `, in all its sessions that work in ${wholeText(directory)}, as it says`;
};

const maxPartLength = 200;

/** What a call does, and the beginning of each of its parts: `bash: run this command: npm test`. */
const callText = (subject: ApprovalSubject): string => {
  const { title, parts } = describeCall(subject, false);
  const texts = parts.map(({ label, text, by = text }) => {
    const start = safeLine(by.trim().replaceAll(/\s+/g, " "), maxPartLength);
    return parts.length === 1 && label === "command" ? start : `${label} ${start}`;
  });
  return [title, ...texts].join(": ");
};

/**
 * What a grant allows, as safe lines to show before it is given and in lists.
 *
 * @param call the call of an exact grant, whose words stand in the place of its digest
 */
export const presentGrant = (terms: GrantTerms, call?: ApprovalSubject): readonly string[] => [
  `allows ${wholeText(terms.tool)} without a question`,
  `for the agent ${wholeText(terms.agent)}${reachText(terms)}`,
  ...("digest" in terms.match
    ? [`for exactly this call: ${call === undefined ? terms.match.digest : callText(call)}`]
    : [
        ...Object.entries(terms.match.input).map(
          ([name, field]) => `if ${wholeText(name)} is: ${describeField(field)}`,
        ),
        "if no other field is given",
      ]),
  ...breadthWarnings(terms).map((warning) => `careful: ${warning}`),
  `until ${new Date(terms.expiresAtMs).toISOString()}, or until it is revoked`,
];
