import { AgentIdSchema } from "@harnesskit/protocol/runtime";
import { CliError, ExitCode, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { askApproval } from "../terminal/keyboard.ts";
import { createTerminal, type Terminal } from "../terminal/terminal.ts";
import { oneLine, safeJson, shellWord, wrapText } from "../terminal/text.ts";
import { withCleanup } from "../with-cleanup.ts";
import {
  displaceAgent,
  enabledFile,
  installedIds,
  readEnabled,
  whileLocked,
  writeEnabled,
} from "./agent-store.ts";
import { installAgent, installMcpServer, mcpProgram } from "./install.ts";
import { type InstalledAgent, readInstalled } from "./installed-agent.ts";
import { isMcpSpec, parseMcpSpec } from "./mcp-spec.ts";
import { grantHint, listLine, reviewLines } from "./review.ts";

interface ConfirmOptions {
  readonly yes?: true;
  readonly hash?: string;
}

export interface InstallCommandOptions extends ConfirmOptions {
  /** Of the agent that serves an MCP server. @default one that follows from the command or URL */
  readonly id?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  /** The MCP server may be started once, without a question. */
  readonly start?: true;
  readonly json?: true;
}

export interface EnableCommandOptions extends ConfirmOptions {
  readonly json?: true;
}

const toJson = (agent: InstalledAgent) => ({ ...agent, grant: grantHint(agent) });

const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** The user's yes or no; undefined where there is no user. */
const ask = async (message: string, yes: string, no: string): Promise<boolean | undefined> => {
  if (!isInteractive()) return undefined;
  const choices = [
    { value: false, label: no },
    { value: true, label: yes },
  ];
  const stop = new AbortController();
  const forget = onStopSignals(() => stop.abort());
  try {
    return (await askApproval<boolean>(choices, false, stop.signal, message)) === true;
  } finally {
    forget();
  }
};

const checkConfirmation = ({ yes, hash }: ConfirmOptions): void => {
  if (yes && hash === undefined)
    throw usageError("--yes needs the hash of what was reviewed: --hash sha256:…");
  if (hash !== undefined && !yes) throw usageError("--hash belongs to --yes");
};

/** Shows an agent, and asks. True: it may be enabled. Undefined: there is no user to ask. */
const confirm = async (
  agent: InstalledAgent,
  options: ConfirmOptions,
  out: Terminal,
): Promise<boolean | undefined> => {
  if (options.yes) {
    if (options.hash === agent.hash) return true;
    throw new CliError(
      "hash_mismatch",
      `the hash of ${agent.id} is ${agent.hash}, not the one that was given`,
      {
        exitCode: ExitCode.refused,
        hint: `Look at it first: harness agents enable ${shellWord(agent.id)}`,
      },
    );
  }
  const columns = out.columns;
  out.write(
    `${reviewLines(agent)
      .map((line) => wrapText(line, columns, "             "))
      .join("\n")}\n`,
  );
  return ask("Enable this agent?", "Yes, its tools are offered in conversations", "No");
};

/** Enables exactly what was shown. */
const enableShown = (shown: InstalledAgent): Promise<InstalledAgent> =>
  whileLocked(async () => {
    const enabled = await readEnabled();
    const agent = await readInstalled(shown.id, enabled);
    if (agent.hash !== shown.hash) {
      throw new CliError("agent_changed", `the files of ${agent.id} changed while they were shown`, {
        exitCode: ExitCode.refused,
      });
    }
    const { id, hash, origin, manifest } = agent;
    const entry = { id, hash, version: manifest.version, origin, enabledAt: new Date().toISOString() };
    await writeEnabled([...enabled.filter((other) => other.id !== id), entry]);
    return { ...agent, state: "enabled" };
  });

const enable = async (
  id: string,
  options: EnableCommandOptions,
  isInstalling: boolean,
): Promise<ExitCode> => {
  const out = createTerminal(options.json ? process.stderr : process.stdout);
  const agent = await readInstalled(id);
  const answer = await confirm(agent, options, out);
  if (answer !== true) {
    if (options.json) createTerminal().write(`${safeJson(toJson(agent))}\n`);
    const command = `harness agents enable ${shellWord(id)} --yes --hash ${agent.hash}`;
    if (answer === undefined || isInstalling) out.write(`\nNot enabled. To enable it: ${command}\n`);
    else out.write("\nNot enabled\n");
    return isInstalling ? ExitCode.done : ExitCode.refused;
  }
  const enabled = await enableShown(agent);
  if (options.json) {
    createTerminal().write(`${safeJson(toJson(enabled))}\n`);
    return ExitCode.done;
  }
  out.write(
    `Enabled ${oneLine(id, 200)} ${enabled.hash}; what is enabled is in ${oneLine(enabledFile(), 1000)}\n`,
  );
  const hint = grantHint(enabled);
  if (hint !== undefined) out.write(`Enabling grants nothing. To grant what it declares: ${hint}\n`);
  return ExitCode.done;
};

const installMcp = (spec: string, options: InstallCommandOptions, binPath: string): Promise<string> =>
  withCleanup(async (defer) => {
    const { id, env, header } = options;
    if (id !== undefined && !AgentIdSchema.safeParse(id).success) {
      throw usageError("--id must have letters, digits, ., _ and -, up to 128, with a letter or digit first");
    }
    const parsed = parseMcpSpec(spec, { cwd: process.cwd(), ...(env && { env }), ...(header && { header }) });
    const err = createTerminal(process.stderr);
    const { server } = parsed;
    const what = "url" in server ? server.url : server.command.map((word) => shellWord(word)).join(" ");
    err.write(
      `To read its tools, this MCP server is started once, now, with your rights:\n  ${oneLine(what, 2000)}\n`,
    );
    const answer = options.start === true || (await ask("Start it?", "Yes, start it once", "No"));
    if (answer === undefined)
      throw usageError("an MCP server is started once to install it: --start allows it");
    if (!answer)
      throw new CliError("refused", "the MCP server was not started and not installed", {
        exitCode: ExitCode.refused,
      });
    const stop = new AbortController();
    defer(onStopSignals(() => stop.abort()));
    return installMcpServer({
      ...parsed,
      ...(id !== undefined && { id }),
      spec,
      program: mcpProgram(binPath),
      signal: stop.signal,
      onOutput: (line) => err.write(`  ${line}\n`),
    });
  });

/** `harness agents install`: copies an agent, shows it, and enables it after a yes. Returns the exit code. */
export const installCommand = async (
  source: string,
  options: InstallCommandOptions,
  binPath: string,
): Promise<ExitCode> => {
  checkConfirmation(options);
  const isMcp = isMcpSpec(source);
  if (!isMcp && (options.id ?? options.env ?? options.header ?? options.start) !== undefined) {
    throw usageError("--id, --env, --header and --start belong to mcp:");
  }
  const id = isMcp ? await installMcp(source, options, binPath) : await installAgent(source);
  createTerminal(process.stderr).write(`Installed ${oneLine(id, 200)}\n`);
  return enable(id, options, true);
};

/** `harness agents enable`: shows an installed agent, and enables exactly that after a yes. Returns the exit code. */
export const enableCommand = async (id: string, options: EnableCommandOptions): Promise<ExitCode> => {
  checkConfirmation(options);
  return enable(id, options, false);
};

const notEnabled = (id: string): CliError =>
  new CliError("agent_not_enabled", `no agent ${oneLine(id, 200)} is enabled`, {
    hint: "See which are: harness agents list",
  });

/** `harness agents disable`. Conversations that run keep it until they end. */
export const disableCommand = async (id: string): Promise<void> => {
  await whileLocked(async () => {
    const enabled = await readEnabled();
    if (!enabled.some((entry) => entry.id === id)) throw notEnabled(id);
    await writeEnabled(enabled.filter((entry) => entry.id !== id));
  });
  createTerminal().write(`Disabled ${oneLine(id, 200)}\n`);
};

/** `harness agents remove`: disables it and removes its copy. */
export const removeCommand = async (id: string): Promise<void> => {
  await whileLocked(async () => {
    const enabled = await readEnabled();
    const isEnabled = enabled.some((entry) => entry.id === id);
    if (isEnabled) await writeEnabled(enabled.filter((entry) => entry.id !== id));
    if ((await installedIds()).includes(id)) await displaceAgent(id);
    else if (!isEnabled) {
      throw new CliError("agent_not_installed", `no agent ${oneLine(id, 200)} is installed`, {
        hint: "See which are: harness agents list",
      });
    }
  });
  createTerminal().write(`Removed ${oneLine(id, 200)}\n`);
};

/** `harness agents list`: what is installed, and what of it is enabled. Returns the exit code. */
export const listCommand = async ({ json }: { readonly json?: true }): Promise<ExitCode> => {
  const out = createTerminal();
  const err = createTerminal(process.stderr);
  const enabled = await readEnabled();
  const ids = [...new Set([...(await installedIds()), ...enabled.map(({ id }) => id)])].sort();
  const agents: InstalledAgent[] = [];
  const broken: { id: string; reason: string }[] = [];
  for (const id of ids) {
    try {
      agents.push(await readInstalled(id, enabled));
    } catch (error) {
      broken.push({ id, reason: oneLine((error as Error).message, 500) });
    }
  }
  if (json) out.write(`${safeJson({ agents: agents.map(toJson), broken })}\n`);
  else if (ids.length === 0) out.write("No agents are installed. Install one: harness agents install DIR\n");
  else {
    for (const agent of agents) {
      out.write(listLine(agent, out));
      const hint = grantHint(agent);
      if (hint !== undefined)
        out.write(`  ${out.style.dim(`declares permissions; to grant them: ${hint}`)}\n`);
      await out.ready();
    }
  }
  for (const { id, reason } of broken)
    err.write(`harness agents: ${oneLine(id, 200)} is not started: ${reason}\n`);
  return broken.length === 0 ? ExitCode.done : ExitCode.failed;
};
