import { type Command, type CommandContext, loads, refuseWords, severalTimes } from "./options.ts";

const exampleId = "com.example.hello";

/** `harness agents` with `install`, `list`, `enable`, `disable` and `remove`. */
export const addAgents = (program: Command, context: CommandContext): void => {
  const agents = program
    .command("agents")
    .description("install, review and enable agents of others, and MCP servers as agents")
    .example("harness agents list");

  agents
    .command("install")
    .description("copy an agent, show what it is, and enable it after your yes")
    .argument("<source>", "a directory, a tar archive, mcp:COMMAND, mcp:URL or mcp:FILE.json")
    .option(
      "--id <id>",
      "the id of the agent that serves an MCP server (default: made of its command or URL)",
    )
    .option("--env <name>", "a variable that an MCP server gets; can be given several times", severalTimes)
    .option(
      "--header <header=name>",
      "a header of an MCP URL, and the variable with its whole value; can be given several times",
      severalTimes,
    )
    .option("--start", "start the MCP server once to read its tools, without asking")
    .option("--yes", "enable it without asking, if it has the hash of --hash")
    .option("--hash <hash>", "the hash of what was reviewed: sha256:…")
    .option("--json", "one JSON document")
    .example(`harness agents install ./hello-agent
  harness agents install 'mcp:npx -y @modelcontextprotocol/server-everything'
  harness agents install mcp:https://example.com/mcp --header authorization=EXAMPLE_AUTH`)
    .action(loads(context, async () => (await import("../agents/install.ts")).installCommand));

  agents
    .command("list", { isDefault: true })
    .description("list the installed agents and which are enabled (the default command)")
    .option("--json", "one JSON document")
    .allowExcessArguments()
    .hook("preAction", refuseWords)
    .example("harness agents list --json")
    .action(loads(context, async () => (await import("../agents/agents-command.ts")).listCommand));

  agents
    .command("enable")
    .description("show an installed agent, and offer its tools in conversations after your yes")
    .argument("<id>", "the agent's id")
    .option("--yes", "enable it without asking, if it has the hash of --hash")
    .option("--hash <hash>", "the hash of what was reviewed: sha256:…")
    .option("--json", "one JSON document")
    .example(`harness agents enable ${exampleId}`)
    .action(loads(context, async () => (await import("../agents/agents-command.ts")).enableCommand));

  agents
    .command("disable")
    .description("stop offering an agent's tools; it stays installed")
    .argument("<id>", "the agent's id")
    .example(`harness agents disable ${exampleId}`)
    .action(loads(context, async () => (await import("../agents/agents-command.ts")).disableCommand));

  agents
    .command("remove")
    .description("disable an agent and remove its copy")
    .argument("<id>", "the agent's id")
    .example(`harness agents remove ${exampleId}`)
    .action(loads(context, async () => (await import("../agents/agents-command.ts")).removeCommand));
};
