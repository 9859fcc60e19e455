import { readEnabledAgents } from "../agents/enabled-agents.ts";
import { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { harnessDirectory, resolveWorkspace } from "../workspace-directory.ts";
import {
  checkDirectory,
  checkKeys,
  checkNode,
  checkPolicy,
  checkRipgrep,
  type Finding,
  ok,
  problem,
} from "./checks.ts";
import { checkConversations, checkThreads } from "./thread-checks.ts";

/** `harness doctor`: what could keep the harness from working here, and what to do about it. Changes nothing. */
export const doctor = async ({
  cwd,
  json,
}: {
  readonly cwd: string;
  readonly json?: true;
}): Promise<ExitCode> => {
  const workspace = await resolveWorkspace(cwd);
  const harness = harnessDirectory(workspace);
  const findings: Finding[] = [
    checkNode(process.versions.node),
    await checkDirectory(workspace),
    await checkPolicy(),
    ...(await checkThreads(harness)),
    ...(await checkConversations(workspace)),
    ...(await checkAgents()),
    await checkRipgrep(async () => (await import("@harnesskit/workspace-agent")).findRipgrep()),
    checkKeys(io().env),
  ];
  const problems = findings.filter(({ status }) => status === "problem").length;
  const terminal = createTerminal();
  if (json) terminal.json({ ok: problems === 0, findings });
  else {
    for (const finding of findings) terminal.say(findingLines(finding, terminal), hang);
    const verdict = problems === 0 ? "Everything is fine." : `${problems} to look at, see the arrows above.`;
    terminal.say(["", verdict]);
  }
  return problems === 0 ? ExitCode.done : ExitCode.failed;
};

/** Whether the agents that are enabled are as they were then; nothing where none is. */
const checkAgents = async (): Promise<Finding[]> => {
  const leftOut: string[] = [];
  const enabled = await readEnabledAgents((line) => leftOut.push(line));
  const names = enabled.map(({ agentId }) => agentId).join(", ");
  return [
    ...(enabled.length === 0 ? [] : [ok("agents", `enabled: ${names}`)]),
    ...leftOut.map((line) => problem("agents", line, "See what is installed: harness agents list")),
  ];
};

const hang = " ".repeat(13);

const findingLines = ({ check, status, text, fix }: Finding, { style }: Terminal): string[] => {
  const sign = { ok: style.green("✓"), note: style.dim("-"), problem: style.red("✗") }[status];
  const line = `${sign} ${check.padEnd(9)}  ${text}`;
  return fix === undefined ? [line] : [line, `${hang}${style.yellow("→")} ${fix}`];
};
