import { hookProtection } from "@harnesskit/agent-hooks";
import type { DoctorRow } from "./report.ts";

/** How a failing hook is named in a sentence. */
const failures: Readonly<Record<DoctorRow["probe"], string>> = {
  allow: "its hook allows",
  deny: "its hook refuses",
  no_hub: "the hub does not run",
  crash: "its hook crashes",
  silent_exit: "its hook exits without a word",
  garbage: "its hook answers garbage",
  timeout: "its hook does not answer in time",
  missing: "its hook's program is missing",
  untrusted: "it does not trust its hooks",
};

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} or ${parts.at(-1)}`;

const effectOf = ({ observed, documented }: DoctorRow) => observed ?? documented;

/** What an agent's hooks protect from, in one line. */
export const protectionText = (rows: readonly DoctorRow[], isProved: boolean): string => {
  const refusal = rows.find(({ probe }) => probe === "deny");
  if (refusal?.observed === "runs") return "NOT PROTECTED: it runs a tool that its hook refused";
  const failed = rows.filter(({ probe }) => !["allow", "deny", "no_hub"].includes(probe));
  const withoutHub = rows.find(({ probe }) => probe === "no_hub");
  const runs = failed.filter((row) => effectOf(row) === "runs").map(({ probe }) => failures[probe]);
  const unknown = failed.filter((row) => effectOf(row) === "unknown").map(({ probe }) => failures[probe]);
  const proof = isProved ? "" : " (documented, not proved)";
  const parts = [
    `${hookProtection}${proof}`,
    ...(withoutHub?.observed === "runs"
      ? ["NOT PROTECTED without the hub: it runs the tool"]
      : withoutHub?.observed === "blocked"
        ? ["without the hub it refuses every tool"]
        : []),
    runs.length === 0
      ? "it refuses the tool in every failure that is known"
      : `it runs the tool if ${listed(runs)}`,
    ...(unknown.length === 0 ? [] : [`not known if ${listed(unknown)}`]),
  ];
  return parts.join("; ");
};
