import type { FieldPattern, GrantTerms } from "@harnesskit/protocol/hub";
import { canonicalJson } from "@harnesskit/wire";
import { breadthWarnings } from "./grant-breadth.ts";
import { quoted, wholeText } from "./view-lines.ts";

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

/** What a grant allows, whole, as safe lines to show before it is given and in lists. */
export const presentGrant = (terms: GrantTerms): readonly string[] => [
  `allows ${wholeText(terms.tool)} without a question`,
  `for the agent ${wholeText(terms.agent)}${reachText(terms)}`,
  ...("digest" in terms.match
    ? [`for exactly this call: ${terms.match.digest}`]
    : [
        ...Object.entries(terms.match.input).map(
          ([name, field]) => `if ${wholeText(name)} is: ${describeField(field)}`,
        ),
        "if no other field is given",
      ]),
  ...breadthWarnings(terms).map((warning) => `careful: ${warning}`),
  `until ${new Date(terms.expiresAtMs).toISOString()}, or until it is revoked`,
];
