import type { ItemData } from "@harnesskit/protocol/threads";
import { undecidedCodes } from "@harnesskit/thread-server";
import { oneLine } from "../terminal/one-line.ts";
import type { Style } from "../terminal/style.ts";

/** A policy's no is another thing than no answer. */
const blockedWord = (code: string | undefined): string => {
  if (code === undecidedCodes.timeout) return "timed out";
  return code === undecidedCodes.unavailable ? "unavailable" : "blocked";
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
      return `${style.yellow("✗")} ${said("refused")}`;
    case "blocked":
      return `${style.yellow("⊘")} ${said(blockedWord(code))}`;
    case "cancelled":
      return `${style.yellow("○")} ${said("cancelled")}`;
    case "unknown":
      return `${style.yellow("?")} ${said("unknown")}`;
    case "pending":
    case "running":
      return style.dim(status);
  }
};
