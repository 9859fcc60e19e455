import { Option } from "commander";
import {
  type Command,
  type CommandContext,
  loads,
  refuseWords,
  severalTimes,
  wholeNumber,
} from "./options.ts";

const fileOption = (): Option =>
  new Option("--file <file>", "the file of the grants (default: one in the user's state directory)");

const addAuditOptions = (command: Command): Command =>
  command
    .option("--audit <file>", "record it in this file (default: one in the user's state directory)")
    .option("--no-audit", "record nothing");

const addScopeOptions = (command: Command): Command =>
  command
    .argument("<agent>", "the agent's id")
    .argument("<permissions...>", "such as fs.write, or side_effects for tools that may change anything")
    .option("--tool <name>", "only for this tool; can be given several times", severalTimes)
    .option("--caller <type:id>", "only for this caller, such as human:ada")
    .option("--actor <type:id>", "only for this actor behind the call");

/** `harness core` with `run`, `grant`, `revoke` and `grants`. */
export const addCore = (program: Command, context: CommandContext): void => {
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
  addCoreRun(core, context);
  addCoreGrants(core, context);
};

const addCoreRun = (core: Command, context: CommandContext): void => {
  const run = core
    .command("run", { isDefault: true })
    .description("run agents (the default command)")
    .requiredOption(
      "--agent <dir>",
      "a directory with an opensentience.agent.json; can be given several times",
      severalTimes,
    )
    .option("--list", "print the tools that the agents registered, and end")
    .option("--call <tool>", "call this tool, AGENT/NAME, and end")
    .option("--input <json>", "the tool's input (default: {})")
    .option("--project <dir>", "the project that the call is for, which the tool learns as project_root")
    .option("--timeout <seconds>", "how long the call may take", wholeNumber("--timeout"), 120)
    .option(
      "--grants <file>",
      "what agents may do beyond reading (default: one in the user's state directory)",
    )
    .option("--directive", "issue a directive for exactly this call, for tools that require one")
    .option(
      "--serve <endpoint>",
      "let other processes use the core on this socket, unix:PATH, with --agents unix:PATH",
    )
    .option("--json", "JSON instead of text; one line per change while it runs")
    .allowExcessArguments()
    .hook("preAction", refuseWords);
  addAuditOptions(run)
    .example(`harness core run --agent ./my-agent --list
  harness core run --agent ./my-agent --call com.example.hello/greet --input '{"name":"Ada"}'

Without --list and --call it stays, prints the directory of its socket and every change of
an agent's health, and restarts agents that end; Ctrl-C ends it with its agents.

With --serve, PATH.token has the token of its clients (0600). Their calls are those of the
caller agent:harness.remote for you: harness core grant says what they may do.`)
    .action(loads(context, async () => (await import("../core/core.ts")).core, false));
};

const addCoreGrants = (core: Command, context: CommandContext): void => {
  const grant = core.command("grant").description("let an agent do more than read");
  addAuditOptions(addScopeOptions(grant))
    .option(
      "--until <time>",
      "2027-01-31T12:00:00Z, or from now 30d, 12h or 90m (default: until it is revoked)",
    )
    .addOption(fileOption())
    .option("--json", "one JSON document")
    .example("harness core grant com.example.files fs.write --tool write --until 8h")
    .action(loads(context, async () => (await import("../core/grants.ts")).grant));

  const revoke = core.command("revoke").description("take back what was granted");
  addAuditOptions(addScopeOptions(revoke))
    .addOption(fileOption())
    .option("--json", "one JSON document")
    .example(`harness core revoke com.example.files fs.write

Running cores see it at once. With --tool, a grant that lists tools keeps the others; one for all
tools goes as a whole.`)
    .action(loads(context, async () => (await import("../core/grants.ts")).revoke));

  core
    .command("grants")
    .alias("list")
    .description("what is granted, by agent and permission")
    .addOption(fileOption())
    .option("--json", "one JSON document")
    .example("harness core grants --json")
    .action(loads(context, async () => (await import("../core/grants.ts")).listGrants));
};

/** `harness audit` with `verify` and `show`. */
export const addAudit = (program: Command, context: CommandContext): void => {
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
    .option("--json", "one JSON document")
    .example("harness audit verify audit.jsonl --json")
    .action(loads(context, async () => (await import("../audit/audit.ts")).verifyAudit));

  audit
    .command("show")
    .description("show the entries of a log, oldest first")
    .argument("<file>", "the log")
    .option("--json", "one JSON line per entry")
    .example("harness audit show audit.jsonl --json | jq 'select(.action == \"tool.call\")'")
    .action(loads(context, async () => (await import("../audit/audit.ts")).showAudit));
};
