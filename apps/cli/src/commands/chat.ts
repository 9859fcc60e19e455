import { type Command, modelForms } from "./options.ts";

/** `harness chat`. */
export const addChat = (program: Command): void => {
  program
    .command("chat")
    .policy()
    .tools()
    .description("talk with a model that has tools; it asks before it writes files or runs commands")
    .cwd()
    .session("continue this conversation; its pending approvals are shown")
    .notWith("continue", "resume")
    .option("--continue", "continue the conversation used last")
    .notWith("resume")
    .option("--resume", "choose a conversation to continue, at a terminal")
    .option("--model <spec>", `the model: ${modelForms}`, "offline")
    .store("where conversations are kept (default: a file for --cwd in ~/.local/state/harnesskit/chats)")
    .example(`harness chat
  echo 'read README.md' | harness chat --session notes
  HARNESS_STORE=postgres://me:secret@db/agents harness chat --store postgres: --session notes

A line is a message; what is pasted is one message, and @PATH gives the model that file of the workspace.
These are commands: /help, /pending, /approve ID, /reject ID REASON, /model SPEC, /cost, /compact, /diff, /resume, /clear, /quit.
Without a terminal the lines of standard input are taken one after the other. The exit code is 3 if an
approval is pending at the end or a call did not run, as in harness run, and 4 if one could not be judged.
Approvals that are pending when you
leave stay pending: harness chat --session ID shows them again, and you answer them there.

A policy judges each prompt and call, as in harness run. While a hub runs (harness hub), it judges, and you
answer there or here; --no-hub uses the shipped policy.`)
    .runs(async () => (await import("../chat/chat.ts")).chat);
};
