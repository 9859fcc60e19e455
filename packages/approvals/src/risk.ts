import type { ApprovalRisk, ApprovalSubject, RiskLevel } from "@harnesskit/protocol/hub";
import { displayText } from "@harnesskit/wire";

const written = /⟨U\+[0-9A-F]{4,6}⟩/g;
/** The carriage return of a line end, and spaces of other widths: safe text writes them out, and they hide nothing. */
const harmless: ReadonlySet<string> = new Set([
  ...["⟨U+000D⟩", "⟨U+00A0⟩", "⟨U+2007⟩", "⟨U+2009⟩", "⟨U+202F⟩", "⟨U+3000⟩"],
]);
const maxNamed = 3;

const hiddenIn = (input: object): readonly string[] => {
  const found = new Set<string>();
  const look = (text: string) => {
    const shown = displayText(text, { multiline: true, maxLength: Number.POSITIVE_INFINITY });
    if (shown === text) return;
    for (const [each] of shown.matchAll(written)) if (!harmless.has(each)) found.add(each);
  };
  JSON.stringify(input, (name, value: unknown) => {
    look(name);
    if (typeof value === "string") look(value);
    return value;
  });
  return [...found];
};

/** The risk of an action whose input may have characters that cannot be seen, such as bidirectional marks: with one it is at least high. */
export const riskWithHidden = (risk: ApprovalRisk, input: object): ApprovalRisk => {
  const hidden = hiddenIn(input);
  if (hidden.length === 0) return risk;
  const reason = `it contains hidden characters: ${hidden.slice(0, maxNamed).join(", ")}`;
  const level = risk.level === "critical" ? risk.level : "high";
  return { level, reasons: [reason, ...risk.reasons] };
};

/** The level at which a risk is handled: what is not known is as high. */
export const handledLevel = (level: RiskLevel): Exclude<RiskLevel, "unknown"> =>
  level === "unknown" ? "high" : level;

/** Whether a risk needs two steps to approve. */
export const isGrave = (level: RiskLevel): boolean => ["high", "critical"].includes(handledLevel(level));

/** As many as a record may have. */
const maxReasons = 20;

/** The risk of an action, at least high where its words hide something; as it is where its asker has said so. */
export const riskOfSubject = (subject: ApprovalSubject, risk: ApprovalRisk): ApprovalRisk => {
  if (risk.reasons.some((reason) => reason.startsWith("it contains hidden characters"))) return risk;
  const { level, reasons } = riskWithHidden(risk, subject);
  return { level, reasons: reasons.slice(0, maxReasons) };
};
