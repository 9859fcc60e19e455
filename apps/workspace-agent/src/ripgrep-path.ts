import { ToolError } from "@harnesskit/agent-sdk";

/**
 * The path of the ripgrep that `@vscode/ripgrep` brings for this machine.
 * Throws `ToolError` `tool.ripgrep_missing`, which names the package to install.
 */
export async function findRipgrep(): Promise<string> {
  try {
    // Loaded with the first search: the package throws as it is loaded where it has no executable.
    return (await import("@vscode/ripgrep")).rgPath;
  } catch (cause) {
    throw ripgrepMissingError(cause);
  }
}

/** `tool.ripgrep_missing` */
export const ripgrepMissingError = (cause: unknown): ToolError =>
  new ToolError(
    "tool.ripgrep_missing",
    `ripgrep, which searches the workspace, is not installed: install the optional dependency ` +
      `@vscode/ripgrep-${process.platform}-${process.arch} (npm install --include=optional)`,
    { cause },
  );
