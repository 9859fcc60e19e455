import { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { displaceAgent, type InstalledAgent, installedIds, readInstalled } from "./installed-agents.ts";
import { grantCommand, grantedText, readGranted } from "./permissions.ts";
import { listLine, toAgentJson } from "./review.ts";

/** `harness agents remove`: disables it and removes its copy. */
export const removeCommand = async (id: string): Promise<void> => {
  await displaceAgent(id);
  createTerminal().say(`Removed ${id}`);
};

/** `harness agents list`: what is installed, and what of it is enabled. Returns the exit code. */
export const listCommand = async ({ json }: { readonly json?: true }): Promise<ExitCode> => {
  const out = createTerminal();
  const err = createTerminal(io().stderr);
  const [ids, granted] = await Promise.all([installedIds(), readGranted()]);
  const agents: InstalledAgent[] = [];
  const broken: { id: string; reason: string }[] = [];
  for (const id of ids) {
    try {
      agents.push(await readInstalled(id));
    } catch (error) {
      broken.push({ id, reason: (error as Error).message });
    }
  }
  if (json) out.json({ agents: agents.map((agent) => toAgentJson(agent, granted)), broken });
  else if (ids.length === 0) out.say("No agents are installed. Install one: harness agents install DIR");
  else {
    for (const agent of agents) {
      out.say(listLine(agent, out));
      const has = grantedText(agent, granted);
      const command = grantCommand(agent, granted);
      if (has !== undefined) out.say(`  ${out.style.dim(`granted: ${has}`)}`);
      const when = agent.tools === undefined ? "needed if its tools do more than read" : "what it may need";
      if (command !== undefined) out.exact(`  ${out.style.dim(`not granted, ${when}: ${command}`)}`);
      await out.ready();
    }
  }
  for (const { id, reason } of broken) err.say(`harness agents: ${id} is not started: ${reason}`);
  return broken.length === 0 ? ExitCode.done : ExitCode.failed;
};
