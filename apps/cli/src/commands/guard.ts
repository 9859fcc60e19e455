import { agentIds, type Command } from "./options.ts";

const agentOption = ["--agent <id>", `only this agent: ${agentIds.join(", ")}`] as const;

const scopeOptions = (command: Command): Command =>
  command
    .option("--user", "the settings of this user, for all projects (default)")
    .notWith("project")
    .option("--project", "the settings of the project in --cwd, which its other users get too")
    .cwd();

/** `harness guard` with `init`, `status`, `remove`, `doctor`, `hook`, and the proxies. */
export const addGuard = (program: Command): void => {
  const guard = program
    .command("guard")
    .description("supervise the coding agents of other vendors: one policy, one inbox, one timeline")
    .example("harness guard init");

  scopeOptions(
    guard
      .command("init")
      .description("find the coding agents, show what would be written into their settings, and write it"),
  )
    .several(...agentOption)
    .number("--wait <seconds>", "how long an agent waits for a decision, and so for your answer", 3600)
    .option(
      "--command <words>",
      'what the hooks start, in place of this program, such as "harness guard hook"; it must answer as that does',
    )
    .option("--managed", "only show what an administrator would put where users cannot change it")
    .option("--dry-run", "only show the changes")
    .option("--yes", "write without asking")
    .option("--json", "one JSON document; without --yes it writes nothing")
    .example(`harness guard init
  harness guard init --agent codex --wait 600
  harness guard init --project --dry-run
  harness guard init --command "harness guard hook"

Every file is backed up, and changed in one step or not at all. What is in it stays as it is;
harness guard remove restores it exactly. Managed settings are never touched.
For --project the hooks start the program harness from the PATH of each user. What --command
names is started once, with --version, before anything is written.

Exit codes: 0 written or nothing to do, 1 a file could not be changed, 2 an option cannot be
used, or there is no terminal to ask at and no --yes, 3 you said no.`)
    .runs(async () => (await import("../guard/init.ts")).guardInit);

  scopeOptions(
    guard
      .command("status")
      .description("show the coding agents of this machine and whether their hooks are in place"),
  )
    .json()
    .example(`harness guard status --json

It asks Codex which of the hooks it trusts, and starts what guard init has written into the
settings once, with --version; it starts nothing else.

Exit codes: 0 every agent that was found is guarded, 1 one is not.`)
    .runs(async () => (await import("../guard/status.ts")).guardStatus);

  scopeOptions(
    guard.command("remove").description("remove the hooks from the settings, after showing the changes"),
  )
    .several(...agentOption)
    .option("--dry-run", "only show the changes")
    .option("--yes", "write without asking")
    .option("--json", "one JSON document; without --yes it writes nothing")
    .example("harness guard remove --agent codex")
    .runs(async () => (await import("../guard/remove.ts")).guardRemove);

  guard
    .command("doctor")
    .description(
      "run the agents against a scripted model, break their hooks on purpose, and show what they did",
    )
    .several(...agentOption)
    .json()
    .example(`harness guard doctor
  harness guard doctor --agent codex --json

Each agent that can be run offline gets a home of its own in a temporary directory, and a
model on this machine that asks it to create one file there. Nothing leaves the machine, no
key is needed, and your settings are not read. It takes about a minute.

Exit codes: 0 the hooks that answered were obeyed, 1 an agent did what its hook refused.`)
    .runs(async () => (await import("../guard/doctor.ts")).guardDoctor);

  guard
    .command("hook")
    .description("what the agents start for each tool call: reads a hook's input, writes the hub's answer")
    .argument("<agent>", agentIds.join(", "))
    .option("--socket <path>", "the guard's socket (default: that of this user's hub)")
    .option("--timeout-ms <n>", "how long the agent waits (default: 30000)")
    .option("--event <name>", "the event, for agents whose input does not name it")
    .example(`echo '{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}' |
    harness guard hook codex

It ends with 0 and one JSON object, or with 2 and a reason on standard error, which every
agent takes as a refusal. It answers two seconds before the agent stops waiting.`)
    .action(() => {
      // bin.ts has answered it before this file was loaded.
    });

  addGuardProxies(guard);
};

const harnessOptions = (command: Command, waitSeconds: number): Command =>
  command
    .option("--hub <dir>", "the hub that judges, by the directory of its state (default: yours)")
    .option("--ahp <endpoint>", "another harness: unix:PATH, http(s)://…, ws(s)://… or stdio:COMMAND")
    .option("--ahp-token-file <file>", "a file with the token for --ahp (default: HARNESS_AHP_TOKEN)")
    .option("--ahp-api-key-file <file>", "a file with the API key for --ahp (default: HARNESS_AHP_API_KEY)")
    .number("--wait <seconds>", "how long a call waits for a decision, and so for your answer", waitSeconds);

/** `harness guard mcp`, `tools` and `acp`: the proxies that stand between two programs. */
const addGuardProxies = (guard: Command): void => {
  harnessOptions(
    guard
      .command("mcp")
      .description("stand between an MCP client and a server: each tool call is judged and recorded")
      .argument("[command...]", "the program of the server and its arguments, behind --"),
    300,
  )
    .option("--url <url>", "the URL of a Streamable HTTP server, instead of a program")
    .several("--header <header=name>", "a header of --url, and the variable with its whole value")
    .option("--name <name>", "what policies call the server (default: made of its command or URL)")
    .example(`harness guard mcp -- npx -y @modelcontextprotocol/server-filesystem /work/app
  harness guard mcp --name files -- npx -y @modelcontextprotocol/server-filesystem /work/app
  harness guard mcp --url https://example.com/mcp --header authorization=EXAMPLE_AUTH

Write it into the settings of the client in the place of the server's own command. Without the
hub every tool call is refused. A tool that is declared otherwise than before, or is new, is
not offered until you accept it, in the inbox or with harness guard tools.

Exit codes: 0 the client has ended, 1 the server has failed, 4 it cannot be started.`)
    .runs(async () => (await import("../guard/mcp.ts")).guardMcp, false);

  guard
    .command("tools")
    .description("list changed tools of MCP servers that wait for your review, and accept them")
    .several("--accept <digest>", "offer the declaration with this digest")
    .json()
    .example("harness guard tools\n  harness guard tools --accept sha256:…")
    .runs(async () => (await import("../guard/tools.ts")).guardTools, false);

  harnessOptions(
    guard
      .command("acp")
      .description("stand between an editor and an ACP agent: what the agent asks for is judged and recorded")
      .argument("[command...]", "the program of the agent and its arguments, behind --"),
    3600,
  )
    .option("--name <name>", "what policies call the agent, behind acp. (default: made of its command)")
    .option(
      "--asking <what>",
      "what is done where the agent starts in a mode in which it does not ask",
      "set",
    )
    .oneOf(["set", "warn", "refuse"])
    .example(`harness guard acp -- gemini --acp
  harness guard acp --name writer --wait 600 -- gemini --acp

Write it into the settings of the editor in the place of the agent's own command. Permission
requests, writes of files, terminals, prompts, and the modes and options that you set in the
editor are judged by the hub; without it they are refused. Where an agent is known to have a mode
in which it asks, the guard sets it (--asking set), says that it is not set (warn), or refuses
the session (refuse). What the agent does without asking is recorded as "not judged", if the
agent reports it, and said here once for each kind of action.

Exit codes: 0 the editor has ended, 1 the agent has failed, 4 it cannot be started.`)
    .runs(async () => (await import("../guard/acp.ts")).guardAcp, false);
};
