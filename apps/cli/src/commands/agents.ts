import type { Command } from "./options.ts";

const exampleId = "com.example.hello";

/** `harness agents` with `install`, `list`, `enable`, `disable` and `remove`. */
export const addAgents = (program: Command): void => {
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
    .several("--env <name>", "a variable that an MCP server gets")
    .several("--header <header=name>", "a header of an MCP URL, and the variable with its whole value")
    .option("--start", "start the MCP server once to read its tools, without asking")
    .option("--yes", "enable it without asking, if it has the hash of --hash")
    .option("--hash <hash>", "the hash of what was reviewed: sha256:…")
    .json()
    .example(`harness agents install ./hello-agent
  harness agents install 'mcp:npx -y @modelcontextprotocol/server-everything'
  harness agents install mcp:https://example.com/mcp --header authorization=EXAMPLE_AUTH`)
    .runs(async () => (await import("../agents/install.ts")).installCommand);

  agents
    .defaultCommand("list")
    .description("list the installed agents and which are enabled (the default command)")
    .json()
    .example("harness agents list --json")
    .runs(async () => (await import("../agents/agents-command.ts")).listCommand);

  agents
    .command("enable")
    .description("show an installed agent, and offer its tools in conversations after your yes")
    .argument("<id>", "the agent's id")
    .option("--yes", "enable it without asking, if it has the hash of --hash")
    .option("--hash <hash>", "the hash of what was reviewed: sha256:…")
    .json()
    .example(`harness agents enable ${exampleId}`)
    .runs(async () => (await import("../agents/agents-command.ts")).enableCommand);

  agents
    .command("disable")
    .description("stop offering an agent's tools; it stays installed")
    .argument("<id>", "the agent's id")
    .example(`harness agents disable ${exampleId}`)
    .runs(async () => (await import("../agents/agents-command.ts")).disableCommand);

  agents
    .command("remove")
    .description("disable an agent and remove its copy")
    .argument("<id>", "the agent's id")
    .example(`harness agents remove ${exampleId}`)
    .runs(async () => (await import("../agents/agents-command.ts")).removeCommand);
};
