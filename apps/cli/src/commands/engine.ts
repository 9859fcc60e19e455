import { type Command, modelForms } from "./options.ts";

/** `harness engine`. */
export const addEngine = (program: Command): void => {
  program
    .command("engine")
    .hub()
    .tools()
    .description(
      "serve OpenHarness to shells on this machine: one conversation each, with tools and approvals",
    )
    .cwd()
    .port("--port <n>", "the port of 127.0.0.1 (default: a free one)")
    .option("--model <spec>", `the model: ${modelForms}`, "offline")
    .option(
      "--token-file <file>",
      "the token that shells send; created if it is missing (default: a new private file)",
    )
    .notWith("auth")
    .option("--no-auth", "no token: any local program can connect")
    .several("--allow-origin <origin>", "an origin whose pages may connect, such as http://localhost:5173")
    .store("where conversations are kept (default: a file for --cwd in ~/.local/state/harnesskit/chats)")
    .option("--open", "serve a page that talks with this engine, and open it in your browser")
    .option("--quiet", "no line for each request")
    .example(`harness engine --open
  harness engine --port 8420 --token-file ~/.config/harness/engine-token
  harness engine --model anthropic:MODEL --allow-origin http://localhost:5173
  HARNESS_STORE=postgres://me:secret@db/agents harness engine --store postgres:

Shells post to http://127.0.0.1:PORT/openharness. The agent asks in the shell before it writes files or
runs commands; approvals that are pending when the engine ends can be answered when it runs again. A
shell's session is a conversation of harness chat: continue it with harness chat --session ID.
SIGTERM or Ctrl-C ends the engine. While a hub runs (harness hub), it judges each prompt and call. You
answer there and not in the shell, which shows what waits and who answered; --no-hub asks in the shell.

Attachments are paths in --cwd (ref_id) or file: addresses in it. Images and text files reach the model.
Files outside, files that hold secrets by their name and other types are refused; the user sees that.`)
    .runs(async () => (await import("../engine/engine.ts")).engine, false);
};
