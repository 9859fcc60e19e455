import { canonicalJson, displayText } from "@harnesskit/wire";
import type { FieldPattern, GrantTerms } from "./grant.ts";
import { breadthWarnings } from "./grant-breadth.ts";

const wholeText = (text: string): string => displayText(text, { maxLength: Number.POSITIVE_INFINITY });

const describeField = (pattern: FieldPattern): string => {
  if ("any" in pattern) return "anything, or absent";
  if ("is" in pattern) return `exactly ${wholeText(canonicalJson(pattern.is))}`;
  if ("under" in pattern) return `a path in ${wholeText(JSON.stringify(pattern.under))} or below`;
  const start = wholeText(JSON.stringify(pattern.startsWith));
  return `starts with ${start} and goes on with letters, digits, spaces or _ . / : = @ , + -`;
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
