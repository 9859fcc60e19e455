import type { Command } from "./options.ts";

const fileOption = [
  "--file <file>",
  "the file of the grants (default: one in the user's state directory)",
] as const;

const addAuditOptions = (command: Command): Command =>
  command
    .option("--audit <file>", "record it in this file (default: one in the user's state directory)")
    .option("--no-audit", "record nothing");

const addScopeOptions = (command: Command): Command =>
  command
    .argument("<agent>", "the agent's id")
    .argument("<permissions...>", "such as fs.write, or side_effects for tools that may change anything")
    .several("--tool <name>", "only for this tool")
    .option("--caller <type:id>", "only for this caller, such as human:ada")
    .option("--actor <type:id>", "only for this actor behind the call");

/** `harness core` with `run`, `grant`, `revoke` and `grants`. */
export const addCore = (program: Command): void => {
  const core = program
    .command("core")
    .description("run agents as separate processes, call their tools, and manage their permissions")
    .addHelpText(
      "after",
      `\nWithout a command, it runs agents: harness core run --help

Example:
  harness core --agent ./my-agent --list
  harness core grant com.example.files fs.write --tool write --until 8h`,
    );
  addCoreRun(core);
  addCoreGrants(core);
};

const addCoreRun = (core: Command): void => {
  const run = core
    .defaultCommand("run")
    .description("run agents (the default command)")
    .several("--agent <dir>", "a directory with an opensentience.agent.json")
    .required()
    .option("--list", "print the tools that the agents registered, and end")
    .option("--call <tool>", "call this tool, AGENT/NAME, and end")
    .option("--input <json>", "the tool's input (default: {})")
    .option("--project <dir>", "the project that the call is for, which the tool learns as project_root")
    .number("--timeout <seconds>", "how long the call may take", 120)
    .option(
      "--grants <file>",
      "what agents may do beyond reading (default: one in the user's state directory)",
    )
    .option("--directive", "issue a directive for exactly this call, for tools that require one")
    .option(
      "--serve <endpoint>",
      "let other processes use the core on this socket, unix:PATH, with --agents unix:PATH",
    )
    .option("--json", "JSON instead of text; one line per change while it runs");
  addAuditOptions(run)
    .example(`harness core run --agent ./my-agent --list
  harness core run --agent ./my-agent --call com.example.hello/greet --input '{"name":"Ada"}'

Without --list and --call it stays, prints the directory of its socket and every change of
an agent's health, and restarts agents that end; Ctrl-C ends it with its agents.

With --serve, PATH.token has the token of its clients (0600). Their calls are those of the
caller agent:harness.remote for you: harness core grant says what they may do.`)
    .runs(async () => (await import("../core/core.ts")).core, false);
};

const addCoreGrants = (core: Command): void => {
  const grant = core.command("grant").description("let an agent do more than read");
  addAuditOptions(addScopeOptions(grant))
    .option(
      "--until <time>",
      "2027-01-31T12:00:00Z, or from now 30d, 12h or 90m (default: until it is revoked)",
    )
    .option(...fileOption)
    .json()
    .example("harness core grant com.example.files fs.write --tool write --until 8h")
    .runs(async () => (await import("../core/grants.ts")).grant);

  const revoke = core.command("revoke").description("take back what was granted");
  addAuditOptions(addScopeOptions(revoke))
    .option(...fileOption)
    .json()
    .example(`harness core revoke com.example.files fs.write

Running cores see it at once. With --tool, a grant that lists tools keeps the others; one for all
tools goes as a whole.`)
    .runs(async () => (await import("../core/grants.ts")).revoke);

  core
    .command("grants")
    .alias("list")
    .description("what is granted, by agent and permission")
    .option(...fileOption)
    .json()
    .example("harness core grants --json")
    .runs(async () => (await import("../core/grants.ts")).listGrants);
};

/** `harness audit` with `verify` and `show`. */
export const addAudit = (program: Command): void => {
  const audit = program
    .command("audit")
    .description("read and verify audit logs")
    .example("harness audit verify audit.jsonl");

  audit
    .command("verify")
    .description("whether a log is as it was written, rotated files included")
    .argument("<file>", "the log")
    .option("--expect <head>", "a head that you kept elsewhere: the log must contain it")
    .option("--open", "accept a log that is still being written")
    .json()
    .example("harness audit verify audit.jsonl --json")
    .runs(async () => (await import("../audit/audit.ts")).verifyAudit);

  audit
    .command("show")
    .description("show the entries of a log, oldest first")
    .argument("<file>", "the log")
    .option("--json", "one JSON line per entry")
    .example("harness audit show audit.jsonl --json | jq 'select(.action == \"tool.call\")'")
    .runs(async () => (await import("../audit/audit.ts")).showAudit);
};
