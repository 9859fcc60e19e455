import { Option } from "commander";
import type { Command } from "./help-command.ts";
import { type CommandContext, loads, severalTimes, wholeNumber } from "./options.ts";

const harnessOptions = (command: Command, waitSeconds: number): Command =>
  command
    .option("--hub <dir>", "the hub that judges, by the directory of its state (default: yours)")
    .option("--ahp <endpoint>", "another harness: unix:PATH, http(s)://…, ws(s)://… or stdio:COMMAND")
    .option("--ahp-token-file <file>", "a file with the token for --ahp (default: HARNESS_AHP_TOKEN)")
    .option("--ahp-api-key-file <file>", "a file with the API key for --ahp (default: HARNESS_AHP_API_KEY)")
    .addOption(
      new Option("--wait <seconds>", "how long a call waits for a decision, and so for your answer")
        .argParser(wholeNumber("--wait"))
        .default(waitSeconds),
    );

/** `harness guard mcp`, `tools` and `acp`: the proxies that stand between two programs. */
export const addGuardProxies = (guard: Command, context: CommandContext): void => {
  harnessOptions(
    guard
      .command("mcp")
      .description("stand between an MCP client and a server: each tool call is judged and recorded")
      .argument("[command...]", "the program of the server and its arguments, behind --"),
    300,
  )
    .option("--url <url>", "the URL of a Streamable HTTP server, instead of a program")
    .option(
      "--header <header=name>",
      "a header of --url, and the variable with its whole value; can be given several times",
      severalTimes,
    )
    .option("--name <name>", "what policies call the server (default: made of its command or URL)")
    .example(`harness guard mcp -- npx -y @modelcontextprotocol/server-filesystem /work/app
  harness guard mcp --name files -- npx -y @modelcontextprotocol/server-filesystem /work/app
  harness guard mcp --url https://example.com/mcp --header authorization=EXAMPLE_AUTH

Write it into the settings of the client in the place of the server's own command. Without the
hub every tool call is refused. A tool that is declared otherwise than before, or is new, is
not offered until you accept it, in the inbox or with harness guard tools.
Exit codes: 0 the client has ended, 1 the server has failed.`)
    .action(loads(context, async () => (await import("../guard/mcp.ts")).guardMcp, false));

  guard
    .command("tools")
    .description("list changed tools of MCP servers that wait for your review, and accept them")
    .option(
      "--accept <digest>",
      "offer the declaration with this digest; can be given several times",
      severalTimes,
    )
    .option("--json", "one JSON document")
    .example("harness guard tools\n  harness guard tools --accept sha256:…")
    .action(loads(context, async () => (await import("../guard/tools.ts")).guardTools, false));

  harnessOptions(
    guard
      .command("acp")
      .description("stand between an editor and an ACP agent: what the agent asks for is judged and recorded")
      .argument("[command...]", "the program of the agent and its arguments, behind --"),
    3600,
  )
    .option("--name <name>", "what policies call the agent, behind acp. (default: made of its command)")
    .addOption(
      new Option("--asking <what>", "what is done where the agent starts in a mode in which it does not ask")
        .choices(["set", "warn", "refuse"])
        .default("set"),
    )
    .example(`harness guard acp -- gemini --acp
  harness guard acp --name writer --wait 600 -- gemini --acp

Write it into the settings of the editor in the place of the agent's own command. Permission
requests, writes of files, terminals, prompts, and the modes and options that you set in the
editor are judged by the hub; without it they are refused. Where an agent is known to have a mode
in which it asks, the guard sets it (--asking set), says that it is not set (warn), or refuses
the session (refuse). What the agent does without asking is recorded as "not judged", if the
agent reports it, and said here once for each kind of action.
Exit codes: 0 the editor has ended, 1 the agent has failed.`)
    .action(loads(context, async () => (await import("../guard/acp.ts")).guardAcp, false));
};
