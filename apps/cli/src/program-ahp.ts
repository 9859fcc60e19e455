import { type Command, Option } from "commander";
import type { ExitCode } from "./exit-code.ts";
import { jsonOption, severalPorts, severalTimes, wholeNumber } from "./program-options.ts";

interface AhpContext {
  readonly version: string;
  readonly onExit: (code: ExitCode) => void;
}

/** The commands of the Agent Harness Protocol: `ahp serve` and `ahp send`, and those about policies. */
export const addAhpCommands = (program: Command, context: AhpContext): void => {
  const ahp = program
    .command("ahp")
    .description("supervise agents: a harness of the Agent Harness Protocol, and a client for it")
    .addHelpText("after", "\nExample:\n  harness ahp serve --unix .harness/ahp.sock");
  addServe(ahp, context);
  addSend(ahp, context);
  addCheck(ahp, context);
  addTest(ahp, context);
  addBacktest(ahp, context);
};

const policyOption = () =>
  new Option("--policy <file>", "the policy's file, or default for the shipped one").makeOptionMandatory();

const addServe = (ahp: Command, { version, onExit }: AhpContext): void => {
  ahp
    .command("serve")
    .description("a harness: answers agents by a policy or all alike, keeps their state and an audit log")
    .addOption(new Option("--stdio", "serve standard input and output, one JSON message a line"))
    .addOption(
      new Option("--unix <path>", "serve a Unix socket; can be given several times").argParser(severalTimes),
    )
    .addOption(
      new Option(
        "--http <port>",
        "serve HTTP on --host at /ahp; 0: a free port; can be given several times",
      ).argParser(severalPorts("--http")),
    )
    .addOption(
      new Option(
        "--ws <port>",
        "serve WebSocket on --host at /ahp; 0: a free port; can be given several times",
      ).argParser(severalPorts("--ws")),
    )
    .addOption(
      new Option(
        "--host <address>",
        "where --http and --ws listen; other machines can reach any but a loopback address",
      ).default("127.0.0.1"),
    )
    .addOption(
      new Option(
        "--token-file <file>",
        "the token of HTTP and WebSocket; made there if the file is missing (default: made and named)",
      ),
    )
    .addOption(
      new Option(
        "--policy <file>",
        "decide by this file, and by what it says when it changes; default: the shipped policy for coding agents",
      ).conflicts("default"),
    )
    .addOption(
      new Option("--default <decision>", "without a policy: what asks for permission is answered with")
        .choices(["allow", "block", "escalate"])
        .default("escalate"),
    )
    .addOption(
      new Option(
        "--audit <file>",
        "where decisions are recorded; there is no harness without it (default: a file of the user's)",
      ),
    )
    .addOption(
      new Option(
        "--record-content",
        "keep the events themselves in the log of --audit, without what looks like a secret, for ahp backtest",
      ),
    )
    .addOption(
      new Option(
        "--no-state",
        "forget runs, task lists and verifications at the end (default: kept beside the audit log)",
      ),
    )
    .addOption(new Option("--quiet", "no line on standard error for each event"))
    .addHelpText(
      "after",
      `\nExample:
  harness ahp serve --policy policy.yaml --unix .harness/ahp.sock --http 0
  harness ahp serve --policy default --unix a.sock --audit log.jsonl --record-content
  harness ahp serve --stdio --default block

Everything given is served at once, by one harness. A policy that is broken at the start is
refused with line and column; one that is broken when it changes is said, and the former stays
in force. Without --policy pre_action, pre_prompt and confirmation are answered with --default,
which escalates everything to a person,
idle is allowed only with --default allow, notifications are taken, and other events that ask
for an answer are refused as not supported. The queries runs, run and stats tell what it knows.
Runs, task lists and verifications are kept beside the audit log, and are there again at the
next start; they hold what agents report, such as prompts and results.
Who can open the socket's file is let in by it; HTTP and WebSocket ask for the token. --host with
an address that is not of this machine alone opens both to the network, without TLS; it needs
--token-file.
A client that starts this program with --stdio gives it a few variables of its environment only,
such as PATH and HOME: pass others by name, as in 'env MODE=strict harness ahp serve --stdio'.
With --stdio alone it ends with its input, else with SIGTERM or Ctrl-C.`,
    )
    .action(async (options) => {
      const { checkPlaces, isStdioAlone } = await import("./ahp/places.ts");
      checkPlaces(options);
      const { checkHarnessLog } = await import("./ahp/harness-log.ts");
      checkHarnessLog(options);
      const { openStdio } = await import("./serve/open-stdio.ts");
      const channel = options.stdio ? await openStdio({ outlives: !isStdioAlone(options) }) : undefined;
      const { ahpServe } = await import("./commands/ahp-serve.ts");
      onExit(await ahpServe({ ...options, version }, channel));
    });
};

const addSend = (ahp: Command, { version, onExit }: AhpContext): void => {
  ahp
    .command("send")
    .description("send one event, batch or query to a harness, and print its decision")
    .argument("<file>", "JSON: an event, an array of events (a batch) or a query; - for standard input")
    .addOption(
      new Option(
        "--to <endpoint>",
        "unix:PATH, http(s)://…, ws(s)://… or stdio:COMMAND ARGS",
      ).makeOptionMandatory(),
    )
    .addOption(
      new Option("--token-file <file>", "the harness's token (default: $HARNESS_AHP_TOKEN, if it is set)"),
    )
    .addOption(
      new Option(
        "--api-key-file <file>",
        "an API key in place of a token (default: $HARNESS_AHP_API_KEY, if it is set)",
      ),
    )
    .addOption(
      new Option(
        "--credentials-in-query",
        "show the credential in the URL of a WebSocket, for harnesses that read no header",
      ),
    )
    .addOption(
      new Option(
        "--timeout <seconds>",
        "how long to wait for each answer (default: as the harness says, else 10)",
      ).argParser(wholeNumber("--timeout")),
    )
    .addOption(jsonOption("one JSON document"))
    .addHelpText(
      "after",
      `\nExample:
  echo '{"event_type":"pre_action","payload":{"tool_name":"bash"}}' |
    harness ahp send --to unix:.harness/ahp.sock -
  harness ahp send --to 'stdio:python3 harness.py' event.json

session_id, agent_id, timestamp and depth are filled in where the event has none. A query is
{"query_type": …, "payload": …}; runs, run and stats tell what a harness of this program knows.

A stdio harness gets PATH, HOME, LANG, TERM, USER and the like of your environment, and nothing
else. Pass it more by name: --to 'stdio:env MODE=strict python3 harness.py'. Other users can
see a command line: let the harness read secrets from a file.

Exit codes: 0 go on (allow, modify, approve, retry, queue; a notification that was sent; an
answer to a query), 2 wrong usage, 3 the harness says no, not now or not this (block, reject,
escalate, defer, skip, refine), 4 the harness gave no decision. Of a batch the highest counts.`,
    )
    .action(async (file: string, options) => {
      const { ahpSend } = await import("./commands/ahp-send.ts");
      onExit(await ahpSend(file, options, { version }));
    });
};

const addCheck = (ahp: Command, { onExit }: AhpContext): void => {
  ahp
    .command("check")
    .description("say what a policy decides of events, by which rule and why")
    .argument("<files...>", "JSON: an event, or an array of events; - for standard input")
    .addOption(policyOption())
    .addOption(jsonOption("one JSON document"))
    .addHelpText(
      "after",
      `\nExample:
  echo '{"event_type":"pre_action","payload":{"tool_name":"read","arguments":{"path":"a"}}}' |
    harness ahp check --policy default -

Each event is decided as if it were the first, so that no limit is reached. session_id, agent_id,
timestamp and depth are filled in where the event has none; the workspace is metadata.workspace,
else the policy's, else the working directory.

Exit codes: 0 go on (allow, modify, approve, retry, queue), 2 wrong usage or a broken policy,
3 the policy says no, not now or not this. Of several events the highest counts.`,
    )
    .action(async (files: readonly string[], options) => {
      const { ahpCheck } = await import("./commands/ahp-check.ts");
      onExit(await ahpCheck(files, options));
    });
};

const addTest = (ahp: Command, { onExit }: AhpContext): void => {
  ahp
    .command("test")
    .description("decide the cases beside a policy, and say which rules none of them tries")
    .argument("<file>", "the policy's file, or default for the shipped one")
    .addOption(new Option("--cases <file>", "the cases (default: beside policy.yaml, policy.test.yaml)"))
    .addOption(jsonOption("one JSON document"))
    .addHelpText(
      "after",
      `\nExample:
  harness ahp test policy.yaml

policy.test.yaml then holds, for example:
  cases:
    - { name: force, tool: bash, args: { command: git push -f }, expect: block }
    - { name: reads, tool: read, args: { path: a }, expect: { decision: allow, rule: reads } }

Exit codes: 0 all cases passed, 1 one failed, 2 wrong usage, a broken policy or broken cases.`,
    )
    .action(async (file: string, options) => {
      const { ahpTest } = await import("./commands/ahp-test.ts");
      onExit(await ahpTest(file, options));
    });
};

const addBacktest = (ahp: Command, { onExit }: AhpContext): void => {
  ahp
    .command("backtest")
    .description("say what a policy would have decided otherwise of the events in an audit log")
    .argument("<audit>", "the log of an ahp serve with --record-content")
    .addOption(policyOption())
    .addOption(jsonOption("one JSON document"))
    .addHelpText(
      "after",
      `\nExample:
  harness ahp serve --unix a.sock --audit log.jsonl --record-content
  harness ahp backtest --policy policy.yaml log.jsonl

Limits count at the times of the log. What looked like a secret is not in the log, so that rules
about secrets decide otherwise.

Exit codes: 0 done, 1 some lines are no entries, 2 wrong usage or a broken policy, 4 the log cannot
be read.`,
    )
    .action(async (file: string, options) => {
      const { ahpBacktest } = await import("./commands/ahp-backtest.ts");
      onExit(await ahpBacktest(file, options));
    });
};
