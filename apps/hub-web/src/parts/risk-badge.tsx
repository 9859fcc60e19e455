import { handledLevel, type RiskLevel } from "@harnesskit/approvals";

const bars = { low: 1, medium: 2, high: 3, critical: 4 } as const;
const words = {
  unknown: "Risk unknown",
  low: "Low risk",
  medium: "Medium risk",
  high: "High risk",
  critical: "Critical risk",
} as const;

/** How much is at stake: in colour, in bars and in words. What is not known looks as high. */
export function RiskBadge({ level }: { readonly level: RiskLevel }) {
  return (
    <span class={`risk risk-${level}`}>
      <svg viewBox="0 0 16 12" width="16" height="12" aria-hidden="true" focusable="false">
        {[0, 1, 2, 3].map((bar) => (
          <rect
            key={bar}
            class={`risk-bar ${bar < bars[handledLevel(level)] ? "filled" : ""}`}
            x={bar * 4}
            y={9 - bar * 3}
            width="3"
            height={3 + bar * 3}
            rx="0.8"
            fill="currentColor"
          />
        ))}
      </svg>
      {words[level]}
    </span>
  );
}
