import type { Explanation } from "@harnesskit/ahp-server/policy";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";

const maxReasonWidth = 1000;

/** Who decided: `by no-force`, `by the default`. */
export const byWhom = ({ rule, source }: Explanation): string => {
  const name = rule === undefined ? "" : ` ${oneLine(rule, 100)}`;
  if (source === "default") return "by the default";
  if (source === "failure") return rule === undefined ? "as the default failed" : `as the rule${name} failed`;
  if (source === "guard") return "by the guard of the policy's file";
  return source === "limit" ? `by the limit${name}` : `by${name}`;
};

/** What rules in shadow would have decided: ` (in shadow: reads → allow)`; empty without any. */
export const inShadow = ({ shadowed, mode, decided }: Explanation): string => {
  const told = shadowed.map(({ rule, decision }) => `${oneLine(rule, 100)} → ${oneLine(decision, 40)}`);
  if (mode === "shadow") told.unshift(`the policy → ${decided?.decision ?? "no say"}`);
  return told.length === 0 ? "" : ` (in shadow: ${told.join(", ")})`;
};

/** A decision with the rule that made it and why, as people read it: safe lines. */
export const explanationText = (subject: string, explanation: Explanation): string => {
  const { decision, why } = explanation;
  const { decision: word = "not supported", ...fields } = { ...decision } as Record<string, unknown>;
  const reason = typeof fields.reason === "string" ? `: ${oneLine(fields.reason, maxReasonWidth)}` : "";
  const lines = [
    `${oneLine(subject, 200)} → ${word} ${byWhom(explanation)}${reason}`,
    `  why: ${oneLine(why, maxReasonWidth)}`,
  ];
  const shadow = inShadow(explanation);
  if (shadow !== "") lines.push(`  ${shadow.trim()}`);
  for (const [key, value] of Object.entries(fields)) {
    if (key !== "reason" && key !== "metadata") lines.push(`  ${key}: ${safeJson(value)}`);
  }
  return `${lines.join("\n")}\n`;
};

/** The same as JSON. */
export const explanationJson = ({ decision, decided, rule, source, why, mode, shadowed }: Explanation) => ({
  decision: decision ?? null,
  ...(mode === "shadow" && { would: decided ?? null }),
  rule: rule ?? null,
  source,
  why,
  mode,
  shadowed,
});
