import type { DirectiveResult } from "@harnesskit/shell-client";
import { oneLine } from "../terminal/text.ts";

type End = "shown" | "refused" | "unasked" | "lost" | "unshown" | "none";

/**
 * What the user got of a directive: `unasked` is an approval, `lost` should have been shown, and `unshown` may be left out
 * beside others (section 11). A card's executor gives false where the card could not be shown.
 */
const directiveEnd = ({ outcome, directive, value, shownInstead }: DirectiveResult): End => {
  const isQuestion = directive.action_type === "request_approval";
  switch (outcome) {
    case "done":
      if (directive.action_type === "noop") return "none";
      return value === false ? "unshown" : "shown";
    case "answered":
    case "pending":
      return "shown";
    case "refused":
      return "refused";
    case "skipped_unknown":
      if (directive.requires_user_approval === true) return "unasked";
      return shownInstead === undefined ? "unshown" : "shown";
    case "failed":
    case "expired":
      if (isQuestion) return "unasked";
      return shownInstead === undefined ? "lost" : "shown";
    case "not_reached":
      return "none";
  }
};

/** Says of the results of one answer what the user did not get. */
export const judgeResults = (results: readonly DirectiveResult[]) => {
  const ends = results.map(directiveEnd);
  const lines = results.flatMap(({ outcome, directive, error }, index) => {
    const type = oneLine(directive.action_type, 100);
    if (ends[index] === "lost") return [`${type} was not shown (${outcome})`];
    if (ends[index] !== "unasked") return [];
    return [`an approval could not be asked: ${error?.message ?? ""} (${type})`];
  });
  const isNothing = ends.includes("unshown") && !ends.includes("shown");
  if (isNothing) lines.push("nothing of what the engine sent could be shown");
  return {
    hasRefused: ends.includes("refused") || ends.includes("unasked"),
    isUnshown: isNothing || ends.includes("lost"),
    lines,
  };
};
