import type { ItemData } from "@harnesskit/protocol/threads";
import { oneLine } from "../terminal/one-line.ts";
import type { Style } from "../terminal/style.ts";
import { type Refusal, refusalOf } from "./refused-calls.ts";

/** Refused by a user or a client, by a policy, in want of a user, and not decided at all are different ends. */
const refusalWords: Readonly<Record<Refusal, string>> = {
  rejected: "refused",
  unattended: "not approved",
  expired: "timed out",
  blocked: "blocked",
  timedOut: "timed out",
  unavailable: "unavailable",
};

/** How a tool call ended, as a sign and what is to be said: safe text. */
export const toolEnding = ({ status, error, code }: ItemData<"tool_exec">, style: Style): string => {
  const why = error === undefined ? "" : oneLine(error, 300);
  const said = (word: string) => (why === "" ? word : `${word}: ${why}`);
  switch (status) {
    case "succeeded":
      return style.green("✓");
    case "failed":
      return `${style.red("✗")} ${said("failed")}`;
    case "rejected":
    case "blocked":
      return `${style.yellow(status === "blocked" ? "⊘" : "✗")} ${said(refusalWords[refusalOf(status, code) ?? status])}`;
    case "cancelled":
      return `${style.yellow("○")} ${said("cancelled")}`;
    case "unknown":
      return `${style.yellow("?")} ${said("unknown")}`;
    case "pending":
    case "running":
      return style.dim(status);
  }
};
