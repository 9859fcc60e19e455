import { type Host, managedSettings } from "@harnesskit/agent-hooks";
import {
  findAgents,
  findProgram,
  planInstallation,
  type SettingsScope,
  toHookCommand,
} from "@harnesskit/guard/settings";
import { ExitCode, usageError } from "../cli-error.ts";
import { hubPlaceAt, listensAt } from "../hub/find-hub.ts";
import { io } from "../io.ts";
import { createTerminal, emit } from "../terminal/terminal.ts";
import { blockLines } from "../timeline/approval-lines.ts";
import {
  type Applied,
  type ApplyOptions,
  appliedJson,
  appliedLines,
  changeSettings,
  exitCodeOf,
} from "./apply-changes.ts";
import {
  checkHookCommand,
  type GuardCommandOptions,
  type GuardContext,
  guardContext,
  hookWords,
  isFound,
  noAgentText,
  readHostVersion,
} from "./guard-context.ts";

export interface GuardInitOptions extends GuardCommandOptions, ApplyOptions {
  readonly wait: number;
  readonly command?: string;
  readonly managed?: true;
}

const minWaitSeconds = 5;
const maxWaitSeconds = 86_400;

/** What a host's hooks start. Rejects with a usage error. */
const commandFor = ({ wait, command }: GuardInitOptions, scope: SettingsScope) => {
  const timeoutMs = wait * 1000;
  return async ({ id: host }: Host) => {
    const program = await hookWords(scope, command);
    return { command: toHookCommand({ program, host, timeoutMs }), timeoutMs };
  };
};

type CommandOf = ReturnType<typeof commandFor>;

/** What each agent's user still has to do, or should know. */
const nextSteps: Readonly<Record<string, string>> = {
  codex:
    "Codex runs new hooks only after you trust them: start codex, and type /hooks. Until then it runs every tool unguarded",
  "claude-code": "Claude Code runs the hooks of a project only in folders that you trust",
  "gemini-cli": "Gemini CLI runs the hooks of a project only in folders that you trust",
  "copilot-cli": "Copilot CLI runs the hooks of a project only in folders that you trust",
};

const hostsOf = async ({ places, named }: GuardContext): Promise<readonly Host[]> => {
  if (named) return named;
  return (await findAgents(places)).filter(isFound).map(({ host }) => host);
};

const showManaged = async (
  hosts: readonly Host[],
  commandOf: CommandOf,
  json: true | undefined,
): Promise<ExitCode> => {
  const shown = await Promise.all(
    hosts.map(async (host) => ({ host, managed: managedSettings(host, await commandOf(host)) })),
  );
  const agents = shown.map(({ host, managed }) => ({ agent: host.id, ...managed }));
  emit(json, { agents }, (_, style) =>
    shown.flatMap(({ host, managed }) => [
      style.bold(host.name),
      ...(managed === undefined
        ? ["  has no settings that its user cannot change"]
        : [...managed.place.split("\n").map((line) => `  ${line}`), ...blockLines(managed.text, style)]),
      "",
    ]),
  );
  return ExitCode.done;
};

/** What is said of the version of each agent that was named or found. */
const versionSteps = async (hosts: readonly Host[], { places }: GuardContext): Promise<readonly string[]> => {
  const found = (await findAgents(places)).filter(({ host }) => hosts.includes(host));
  const lines = found.map(async (agent) => {
    const { version, problem } = await readHostVersion(agent);
    const { name, minimum } = agent.host;
    if (problem !== undefined) return [problem];
    return minimum && version === undefined ? [`${name} must be ${minimum.version} or newer`] : [];
  });
  return (await Promise.all(lines)).flat();
};

const reportLines = (
  applied: readonly Applied[],
  isHubRunning: boolean,
  versions: readonly string[],
): string[] => {
  const steps = applied
    .filter(({ isWritten }) => isWritten)
    .flatMap(({ id }) => {
      const step = nextSteps[id];
      return step === undefined ? [] : [`- ${step}.`];
    });
  const isWritten = applied.some((one) => one.isWritten);
  return [
    ...appliedLines(applied, "has the hooks already"),
    ...(isWritten
      ? [
          "",
          "Next:",
          ...(isHubRunning
            ? []
            : ["- Start the hub: harness hub. Without it every tool call of these agents is refused."]),
          ...versions.map((line) => `- ${line}.`),
          ...steps,
          "- See what each agent does when a hook fails: harness guard doctor",
          "- What an administrator would put where users cannot remove it: harness guard init --managed",
        ]
      : []),
  ];
};

/** `harness guard init`: puts the agents of this machine under the hub. Returns the exit code. */
export const guardInit = async (options: GuardInitOptions): Promise<ExitCode> => {
  if (options.wait < minWaitSeconds || options.wait > maxWaitSeconds) {
    throw usageError(`--wait must be a number of seconds from ${minWaitSeconds} to ${maxWaitSeconds}`);
  }
  const context = await guardContext(options);
  const hosts = await hostsOf(context);
  const terminal = createTerminal();
  if (hosts.length === 0) {
    emit(options.json, appliedJson([]), () => `${noAgentText} Name one to prepare it: --agent codex`);
    return ExitCode.done;
  }
  // What an administrator distributes need not be on this machine.
  if (options.managed) return showManaged(hosts, commandFor(options, "user"), options.json);
  if (options.command !== undefined) await checkHookCommand(options.command, context.places.project);
  if (context.scope === "project" && !(await findProgram(["harness"], io().env)) && !options.json) {
    terminal.say([
      "harness is not in the PATH here: the hooks of the project would fail on this machine.",
      "",
    ]);
  }
  const commandOf = commandFor(options, context.scope);
  const applied = await changeSettings(hosts, context, options, async (state, host) =>
    planInstallation(state, await commandOf(host), context),
  );
  if (options.json) terminal.json(appliedJson(applied));
  else {
    const isHubRunning = await listensAt(hubPlaceAt().guardSocket);
    terminal.say(reportLines(applied, isHubRunning, await versionSteps(hosts, context)));
  }
  return exitCodeOf(applied);
};
