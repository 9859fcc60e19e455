import type { Grant } from "@harnesskit/protocol/threads";
import { CliError } from "../cli-error.ts";
import { openStoredThreads } from "../stored-threads.ts";
import { formatTime } from "../terminal/duration.ts";
import { oneLine } from "../terminal/one-line.ts";
import { safeJson } from "../terminal/safe-json.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { toolSubject } from "../timeline/tool-title.ts";

export interface GrantsOptions {
  readonly cwd: string;
  readonly json?: true;
}

/** `harness grants list`: what was allowed for always, the last answer first. */
export const listGrants = async ({ cwd, json }: GrantsOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const grants = (await stored.grants()).sort((a, b) => b.time - a.time);
  const terminal = createTerminal();
  if (json) {
    terminal.write(`${safeJson({ grants })}\n`);
    return;
  }
  if (grants.length === 0) {
    terminal.write(`Nothing is allowed for always in ${oneLine(stored.workspace)}\n`);
    return;
  }
  const { style } = terminal;
  for (const grant of grants) {
    const { grantId, time, tool, input, grantedBy } = grant;
    const what = `${style.bold(oneLine(tool, 40))} ${oneLine(toolSubject(tool, input), 200)}`;
    const facts = `${formatTime(time)} · ${reachOf(grant)} · by ${oneLine(grantedBy, 100)}`;
    const text = `${oneLine(grantId, 80)}  ${what}\n  ${style.dim(facts)}\n`;
    terminal.write(wrapText(text, terminal.columns, "  "));
    await terminal.ready();
  }
};

const reachOf = ({ scope, threadId, directory }: Grant): string =>
  scope === "thread"
    ? `in the thread ${oneLine(threadId, 80)}`
    : `in every thread of ${oneLine(directory, 1000)}`;

/** `harness grants revoke`: takes an answer back. Throws where there is none. */
export const revokeGrant = async (grantId: string, { cwd }: GrantsOptions): Promise<void> => {
  const stored = await openStoredThreads(cwd);
  const shown = oneLine(grantId, 80);
  if (await stored.revokeGrant(grantId)) {
    createTerminal().write(`Revoked ${shown}: it is asked again from now on\n`);
    return;
  }
  throw new CliError("grant_not_found", `There is no grant ${shown} in ${oneLine(stored.workspace)}`, {
    hint: "See what there is: harness grants list --cwd DIR",
  });
};
