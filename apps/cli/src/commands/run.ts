import { approvals, type Command, modelForms } from "./options.ts";

/** `harness run`. */
export const addRun = (program: Command): void => {
  program
    .command("run")
    .policy()
    .tools()
    .description("give the agent a task and follow what it does")
    .argument(
      "[prompt]",
      "what to do; - or no prompt: read from standard input; with --thread and no prompt: answer its pending approvals",
    )
    .cwd()
    .option("--model <spec>", `${modelForms} (default: offline)`)
    .option("--agent <name>", "code, which may change things, or ask, which only reads (default: code)")
    .option(
      "--approve <how>",
      "how approvals are answered; ask needs a terminal, and approves nothing without (default: ask)",
    )
    .oneOf(approvals)
    .option(
      "--thread <id>",
      "continue this thread, by its id or the beginning of it; its pending approvals come first",
    )
    .option(
      "--continue",
      "continue the thread used last, or that of --thread; a turn that was interrupted goes on from its last step, instead of ending",
    )
    .notWith("attach")
    .option("--resume", "choose the thread to continue, at a terminal")
    .notWith("thread", "attach")
    .several("--file <path>", "give the model this file of the workspace: an image, a PDF or text")
    .option("--attach <endpoint>", "use the server on this socket, unix:PATH, instead of starting one")
    .notWith(
      "cwd",
      "agents",
      "installedAgents",
      "passEnv",
      "policy",
      "hub",
      "ahp",
      "ahpTokenFile",
      "ahpApiKeyFile",
      "ahpCredentialsInQuery",
      "policyTimeout",
    )
    .retry("the server of --attach")
    .option(
      "--queue",
      "with --attach and --thread: if a turn runs there, wait for its end in the thread's queue",
    )
    .notWith("interrupt")
    .option("--interrupt", "with --attach and --thread: if a turn runs there, cancel it first")
    .option("--json", "one JSON line per event, the last of type result")
    .example(`harness run --approve once "run the tests"
  echo "run the tests" | harness run --approve once
  harness run "describe this repository" > answer.md
  harness run --continue "and now the tests of @src/server.ts"

An @PATH in the prompt gives the model that file of the workspace, as --file does.
Standard output is the answer alone: tools, questions and how the turn ended go to standard error.
If standard input is not a terminal, no user can be asked: calls that need an approval do not
run, and the exit code is 3. --approve once approves each call, for example in a script.`)
    .runs(async () => (await import("../run/run.ts")).run);
};

/** `harness attach`. */
export const addAttach = (program: Command): void => {
  program
    .command("attach")
    .description("follow a thread of a running server, and answer its pending approvals")
    .argument("<endpoint>", "where it listens: unix:PATH")
    .option("--thread <id>", "the thread (default: the one used last)")
    .option(
      "--approve <how>",
      "how approvals are answered; ask needs a terminal, and only watches without (default: ask)",
    )
    .oneOf(approvals)
    .number("--after <seq>", "show only events after this number")
    .option("--follow", "stay when the turn has ended, until Ctrl-C")
    .retry("the server")
    .option("--json", "one JSON line per event, the last of type result")
    .example(
      'harness attach "unix:$HOME/.local/state/harnesskit/run/serve.sock" --follow\n\nCtrl-C leaves; the turn continues.',
    )
    .runs(async () => (await import("../attach/attach.ts")).attach);
};
