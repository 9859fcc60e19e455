import { shellWord } from "@harnesskit/wire";
import { ask } from "../ask.ts";
import { CliError, ExitCode, refusedError, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import {
  displaceAgent,
  type InstalledAgent,
  installedIds,
  readInstalled,
  setEnabled,
} from "./installed-agents.ts";
import {
  type Granted,
  grantCommand,
  grantedText,
  listLine,
  readGranted,
  reviewLines,
  toAgentJson,
} from "./review.ts";

/** How a yes is given without a question. */
export interface ConfirmOptions {
  readonly yes?: true;
  readonly hash?: string;
}

interface EnableCommandOptions extends ConfirmOptions {
  readonly json?: true;
}

/** Throws a usage error for one of the two options without the other. */
export const checkConfirmation = ({ yes, hash }: ConfirmOptions): void => {
  if (yes && hash === undefined)
    throw usageError("--yes needs the hash of what was reviewed: --hash sha256:…");
  if (hash !== undefined && !yes) throw usageError("--hash belongs to --yes");
};

/** Shows an agent, and asks. True: it may be enabled. Undefined: there is no user to ask. */
const confirm = async (
  agent: InstalledAgent,
  options: ConfirmOptions,
  granted: Granted,
  out: Terminal,
): Promise<boolean | undefined> => {
  if (options.yes) {
    if (options.hash === agent.hash) return true;
    throw refusedError(
      "hash_mismatch",
      `the hash of ${agent.id} is ${agent.hash}, not the one that was given`,
      { hint: { to: "Look at it first", run: `harness agents enable ${shellWord(agent.id)}` } },
    );
  }
  out.say(reviewLines(agent, granted), "             ");
  return ask("Enable this agent?", "Yes, its tools are offered in conversations", "No");
};

/** Enables exactly what was shown. */
const enableShown = async (shown: InstalledAgent): Promise<InstalledAgent> => {
  const agent = await readInstalled(shown.id);
  if (agent.hash !== shown.hash)
    throw refusedError("agent_changed", `another ${agent.id} was installed while this one was shown`);
  await setEnabled(agent, new Date().toISOString());
  return { ...agent, state: "enabled" };
};

/** Shows an installed agent, asks, and enables exactly what was shown. Returns the exit code. */
export const enable = async (
  id: string,
  options: EnableCommandOptions,
  isInstalling: boolean,
): Promise<ExitCode> => {
  const out = createTerminal(options.json ? io().stderr : io().stdout);
  const agent = await readInstalled(id);
  const granted = await readGranted();
  const answer = await confirm(agent, options, granted, out);
  if (answer !== true) {
    if (options.json) createTerminal().json(toAgentJson(agent, granted));
    const command = `harness agents enable ${shellWord(id)} --yes --hash ${agent.hash}`;
    if (answer === undefined || isInstalling) out.exact(["", `Not enabled. To enable it: ${command}`]);
    else out.say(["", "Not enabled"]);
    return isInstalling ? ExitCode.done : ExitCode.refused;
  }
  const enabled = await enableShown(agent);
  if (options.json) {
    createTerminal().json(toAgentJson(enabled, granted));
    return ExitCode.done;
  }
  out.say(`Enabled ${id} ${enabled.hash}`);
  const hint = grantCommand(enabled, granted);
  if (hint === undefined) return ExitCode.done;
  const when =
    enabled.tools === undefined
      ? "Its tools are not known before it runs. If they do more than read, grant it"
      : "To grant what its tools may need";
  out.exact(`Enabling grants nothing. ${when}: ${hint}`);
  return ExitCode.done;
};

/** `harness agents enable`: shows an installed agent, and enables exactly that after a yes. Returns the exit code. */
export const enableCommand = async (id: string, options: EnableCommandOptions): Promise<ExitCode> => {
  checkConfirmation(options);
  return enable(id, options, false);
};

/** `harness agents disable`. Conversations that run keep it until they end. */
export const disableCommand = async (id: string): Promise<void> => {
  const agent = await readInstalled(id);
  if (agent.state === "disabled") {
    throw new CliError("agent_not_enabled", `no agent ${id} is enabled`, {
      hint: { to: "See which are", run: "harness agents list" },
    });
  }
  await setEnabled(agent, undefined);
  createTerminal().say(`Disabled ${id}`);
};

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
