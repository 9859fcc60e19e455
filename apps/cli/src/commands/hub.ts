import type { Command } from "./options.ts";

const stateOption = [
  "--state <dir>",
  "the directory of the hub (default: one of your state directory)",
] as const;

/** `harness hub`. */
export const addHub = (program: Command): void => {
  program
    .command("hub")
    .description(
      "one place where every agent asks: a policy, an inbox of approvals, and a timeline of what happened",
    )
    .option("--open", "open the page in the browser; of a hub that runs already, too")
    .option("--policy <file>", "the policy that decides; default, or none, is the shipped one")
    .option(...stateOption)
    .port("--port <n>", "the port of 127.0.0.1 (default: the one it had last, else a free one)")
    .store(
      "where approvals and the timeline are kept, in the place of files in --state; hubs with the same store are one",
      "",
    )
    .number("--keep-days <n>", "how long the timeline and ended approvals are kept", 30)
    .several("--redact <field>", "a field of inputs and outputs whose values are not kept")
    .option(
      "--notify <file>",
      "where notices of pending approvals go: webhook, ntfy, Slack, e-mail; a YAML file",
    )
    .option(
      "--public-url <url>",
      "where people reach the hub through a proxy or tunnel of yours; links begin with it",
    )
    .option(
      "--tls-cert <file>",
      "a certificate (PEM), with which the hub itself serves --public-url on its port",
    )
    .option("--tls-key <file>", "the key of --tls-cert (PEM)")
    .option(
      "--pair [name]",
      "pair a phone: a QR code with a link that works once; of a hub that runs already, too",
    )
    .option("--may <right>", "with --pair: what it may do (default: answer)")
    .oneOf(["look", "answer"])
    .option("--up-to <risk>", "with --pair: the highest risk that it may answer")
    .oneOf(["low", "medium", "high"])
    .option("--quiet", "fewer lines")
    .example(`harness hub --open
  harness hub --pair "Anna's phone" --public-url https://hub.example.org
  harness run "run the tests"        in another terminal: it asks this hub

What the policy escalates waits in the inbox until you answer: in the page, with harness inbox, or
tomorrow. Agents that run meanwhile are held or asked to repeat their call; an answer counts once.
harness run, chat, engine and serve find the hub by its socket; any agent that speaks AHP can use it.
SIGTERM or Ctrl-C ends the hub. Questions stay, and are there when it runs again.`)
    .runs(async () => (await import("../hub/hub.ts")).hub, false)
    .command("devices")
    .description("list the phones and browsers that were paired, or revoke one")
    .option(...stateOption)
    .option("--revoke <id>", "revoke a device: its connections close at once")
    .option("--json", "one JSON line per device")
    .example("harness hub devices\n  harness hub devices --revoke dev_Xb3…")
    .runs(async () => (await import("../hub/devices.ts")).devices);
};

/** `harness inbox`. */
export const addInbox = (program: Command): void => {
  program
    .command("inbox")
    .description("list, watch and answer what waits for you in the hub")
    .option(...stateOption)
    .option("--watch", "show each question as it comes, and answer it here")
    .option("--approve <id>", "approve a question, once")
    .option("--reject <id>", "refuse a question")
    .option("--reason <text>", "with --reject: why; the agent gets it")
    .option("--grants", "list the calls that run without a question")
    .option("--revoke <id>", "end a grant")
    .option("--json", "one JSON line per approval")
    .example("harness inbox --watch\n  harness inbox --json | jq -r .id | xargs -n1 harness inbox --approve")
    .runs(async () => (await import("../inbox/inbox.ts")).inbox);
};

/** `harness timeline`. */
export const addTimeline = (program: Command): void => {
  program
    .command("timeline")
    .description("what the agents of the hub did, who decided, and what came of it; the newest last")
    .option(...stateOption)
    .option("--agent <name>", "of this agent")
    .option("--session <id>", "of this session")
    .option("--tool <name>", "of this tool")
    .option("--failed", "what failed, was refused, or has an unknown outcome")
    .option("--text <words>", "with these words in the summary, the tool, the outcome or the reason")
    .age("--since <age>", "only what is newer than this")
    .number("--limit <n>", "at most this many, the newest (default: 50; 0: all)")
    .option("--follow", "keep following until Ctrl-C")
    .option("--json", "one JSON line per row")
    .option("--csv", "comma-separated values with a header (RFC 4180)")
    .example("harness timeline --failed --since 24h\n  harness timeline --limit 0 --csv > timeline.csv")
    .runs(async () => (await import("../inbox/timeline.ts")).timeline);
};
