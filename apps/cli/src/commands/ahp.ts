import type { AhpServeOptions } from "../ahp/serve.ts";
import { agentIds, type Command } from "./options.ts";

/** `harness ahp` with `serve`, `check`, `test` and `backtest`. */
export const addAhp = (program: Command): void => {
  const ahp = program
    .command("ahp")
    .description("supervise agents: a harness of the Agent Harness Protocol, and policies")
    .example("harness ahp serve --unix ~/.local/state/harnesskit/run/ahp.sock");
  addServe(ahp);
  addPolicyCommands(ahp);
};

const addServe = (ahp: Command): void => {
  ahp
    .command("serve")
    .description("a harness: answers agents by a policy, and keeps an audit log")
    .option("--stdio", "serve standard input and output, one JSON message per line")
    .option("--unix <path>", "serve a Unix socket")
    .port("--http <port>", "serve HTTP and WebSocket on 127.0.0.1 at /ahp; 0: a free port")
    .option(
      "--token-file <file>",
      "the token of --http; created if the file is missing (default: a new private file)",
    )
    .option(
      "--policy <file>",
      "decide by this file, and reload it when it changes; default: the shipped policy for coding agents",
      "default",
    )
    .option(
      "--audit <file>",
      "where decisions are recorded; the harness does not start without it (default: a file in your state directory)",
    )
    .option(
      "--record-content",
      "keep the events themselves in the log of --audit, with secrets redacted, for ahp backtest",
    )
    .option("--quiet", "no line on standard error for each event")
    .example(`harness ahp serve --policy ~/policies/team.yaml --http 0
  harness ahp serve --unix ~/.local/state/harnesskit/run/a.sock --audit log.jsonl --record-content

One harness serves all the given endpoints. A policy that is broken at the start is refused
with line and column; if it is broken after a change, that is reported and the former policy
stays in force. Access to a socket is by its file; HTTP and WebSocket need the token.
A client that starts this program with --stdio passes only a few environment variables, such
as PATH and HOME: pass others by name, as in 'env MODE=strict harness ahp serve --stdio'.
With --stdio alone it ends with its input, otherwise with SIGTERM or Ctrl-C.`)
    .runs(async () => serveHarness, false);
};

const serveHarness = async (options: AhpServeOptions, { version }: { readonly version: string }) => {
  const { checkPlaces, isStdioAlone } = await import("../ahp/places.ts");
  checkPlaces(options);
  const { checkHarnessLog } = await import("../audit/audit-logs.ts");
  checkHarnessLog(options);
  const { openStdio } = await import("../serve/open-stdio.ts");
  const channel = options.stdio ? await openStdio({ outlives: !isStdioAlone(options) }) : undefined;
  const { ahpServe } = await import("../ahp/serve.ts");
  return ahpServe({ ...options, version }, channel);
};

const policyOption = ["--policy <file>", "the policy's file, or default for the shipped one"] as const;

const addPolicyCommands = (ahp: Command): void => {
  ahp
    .command("check")
    .description("show what a policy decides about events, by which rule and why")
    .argument("<files...>", "JSON: an event, or an array of events; - for standard input")
    .requiredOption(...policyOption)
    .option(
      "--agent <id>",
      `the files hold what this coding agent writes to its hooks: ${agentIds.join(", ")}; or acp, acp:NAME: a request of an ACP agent`,
    )
    .json()
    .example(`echo '{"event_type":"pre_action","payload":{"tool_name":"read","arguments":{"path":"a"}}}' |
    harness ahp check --policy default -
  harness ahp check --policy default --agent codex hook.json

Each event is decided as if it were the first, so that no limit is reached. Missing session_id,
agent_id, timestamp and depth are filled in; the workspace is metadata.workspace,
else the policy's, else the working directory.

Exit codes: 0 go on (allow, modify, approve, retry, queue), 2 wrong usage or a broken policy,
3 the policy says no, not now or not this. The highest of several events counts.`)
    .runs(async () => (await import("../ahp/check.ts")).ahpCheck);

  ahp
    .command("test")
    .description("decide the cases beside a policy, and name the rules that no case covers")
    .argument("<file>", "the policy's file, or default for the shipped one")
    .option("--cases <file>", "the cases (default: beside policy.yaml, policy.test.yaml)")
    .json()
    .example(`harness ahp test policy.yaml

policy.test.yaml then holds, for example:
  cases:
    - { name: force, tool: bash, args: { command: git push -f }, expect: block }
    - { name: reads, tool: read, args: { path: a }, expect: { decision: allow, rule: reads } }

Exit codes: 0 all cases passed, 1 one failed, 2 wrong usage, no cases or a broken file.`)
    .runs(async () => (await import("../ahp/test.ts")).ahpTest, false);

  ahp
    .command("backtest")
    .description("show what a policy would have decided differently about the events in an audit log")
    .argument("<audit>", "the log of an ahp serve with --record-content")
    .requiredOption(...policyOption)
    .json()
    .example(`harness ahp serve --unix ~/.local/state/harnesskit/run/a.sock --audit log.jsonl --record-content
  harness ahp backtest --policy policy.yaml log.jsonl

Limits count at the times of the log. Secrets were redacted in the log, so that rules about
secrets decide differently.

Exit codes: 0 done, 1 some lines are not entries, 2 wrong usage or a broken policy, 4 the log cannot
be read.`)
    .runs(async () => (await import("../ahp/backtest.ts")).ahpBacktest, false);
};
