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

/** What a grant allows, whole, as safe lines to show before it is given and in lists. */
export const presentGrant = ({ agent, session, tool, match, expiresAtMs }: GrantTerms): readonly string[] => [
  `allows ${wholeText(tool)} without a question`,
  `for the agent ${wholeText(agent)}${session === undefined ? ", in all its sessions" : `, in the session ${wholeText(session)}`}`,
  ...("digest" in match
    ? [`for exactly this call: ${match.digest}`]
    : [
        ...Object.entries(match.input).map(
          ([name, field]) => `if ${wholeText(name)} is: ${describeField(field)}`,
        ),
        "if no other field is given",
      ]),
  ...breadthWarnings({ match }).map((warning) => `careful: ${warning}`),
  `until ${new Date(expiresAtMs).toISOString()}, or until it is revoked`,
];
