import type { Command } from "commander";
import { type CommandContext, severalTimes, wholeNumber } from "./options.ts";

/** `harness core`. */
export const addCore = (program: Command, { version, onExit }: CommandContext): void => {
  program
    .command("core")
    .description("run agents, each in its own process, and use their tools")
    .requiredOption(
      "--agent <dir>",
      "a directory with an opensentience.agent.json; can be given several times",
      severalTimes,
    )
    .option("--list", "print the tools that the agents registered, and end")
    .option("--call <tool>", "call this tool, AGENT/NAME, and end")
    .option("--input <json>", "the tool's input (default: {})")
    .option("--timeout <seconds>", "how long the call may take", wholeNumber("--timeout"), 120)
    .option("--audit <file>", "record what happens in this file, without content")
    .option("--json", "JSON instead of text; one line per change while it runs")
    .addHelpText(
      "after",
      `\nExample:
  harness core --agent ./my-agent --list
  harness core --agent ./my-agent --call com.example.hello/greet --input '{"name":"Ada"}'

Without --list and --call it stays, prints the directory of its socket and every change of
an agent's health, and restarts agents that end; Ctrl-C ends it with its agents.`,
    )
    .action(async (options) => {
      const { core } = await import("../core/core.ts");
      onExit(await core(options, { version }));
    });
};

/** `harness audit` with `verify` and `show`. */
export const addAudit = (program: Command, { onExit }: CommandContext): void => {
  const audit = program
    .command("audit")
    .description("read and verify audit logs")
    .addHelpText("after", "\nExample:\n  harness audit verify audit.jsonl");

  audit
    .command("verify")
    .description("whether a log is as it was written, rotated files included")
    .argument("<file>", "the log")
    .option("--expect <head>", "a head that was kept elsewhere: the log must contain it")
    .option("--open", "the log is being written: its end need not be sealed")
    .option("--json", "one JSON document")
    .addHelpText("after", "\nExample:\n  harness audit verify audit.jsonl --json")
    .action(async (file: string, options) => {
      const { verifyAudit } = await import("../audit/audit.ts");
      onExit(await verifyAudit(file, options));
    });

  audit
    .command("show")
    .description("the entries of a log, the oldest first")
    .argument("<file>", "the log")
    .option("--action <name>", "only this action; tool.* for all that begin so")
    .option("--agent-id <id>", "only of this agent")
    .option("--call <id>", "only of this call")
    .option("--correlation <id>", "only of this correlation: a thread's id")
    .option("--after <seq>", "only entries after this number", wholeNumber("--after"))
    .option("--limit <n>", "at most this many", wholeNumber("--limit"))
    .option("--json", "one JSON line per entry")
    .addHelpText("after", "\nExample:\n  harness audit show audit.jsonl --action 'tool.*'")
    .action(async (file: string, options) => {
      const { showAudit } = await import("../audit/audit.ts");
      onExit(await showAudit(file, options));
    });
};
