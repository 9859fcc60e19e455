import { isAbsolute, join, normalize } from "node:path";
import type { AcpNames } from "@harnesskit/agent-hooks/acp";
import { isSameCommand } from "@harnesskit/command-judge";
import { realPathOf } from "@harnesskit/node-kit";

const fromWorkspace = (path: string, workspace: string | undefined): string =>
  isAbsolute(path) || workspace === undefined ? normalize(path) : join(workspace, path);

const isOneFile = (one: string, other: string): boolean =>
  one === other || (realPathOf(one) ?? one) === (realPathOf(other) ?? other);

/**
 * The command or file that a later report of a call names and that is not among those which the call named when it was allowed; undefined where
 * there is none. A call that named nothing of a kind has nothing to compare with.
 */
export const reportedDifference = (
  allowed: AcpNames,
  reported: AcpNames,
  workspace: string | undefined,
): string | undefined => {
  const { command, paths } = reported;
  if (command !== undefined) {
    const isOther =
      allowed.command === undefined ? allowed.paths.length > 0 : !isSameCommand(allowed.command, command);
    return isOther ? command : undefined;
  }
  if (allowed.paths.length === 0) return undefined;
  const known = allowed.paths.map((path) => fromWorkspace(path, workspace));
  return paths.find((path) => !known.some((one) => isOneFile(one, fromWorkspace(path, workspace))));
};
