import type { createModel } from "@harnesskit/models";
import { CliError, hintText } from "../cli-error.ts";
import { pricesOf } from "../prices.ts";
import type { LineCommand } from "../terminal/line-conversation.ts";
import type { View } from "../timeline/view.ts";
import type { Conversation } from "./conversation.ts";
import type { SwitchedModel } from "./switched-model.ts";
import { workspaceDiff } from "./workspace-diff.ts";

export interface ChatCommandsOptions {
  readonly conversation: Conversation;
  readonly view: View;
  readonly model: SwitchedModel;
  /** Opens the model of `/model`. Rejects with a `CliError`. */
  readonly openModel: (spec: string, option: string) => ReturnType<typeof createModel>;
  /** Begins another conversation, and returns its id. */
  readonly beginAnother: () => Promise<string>;
  /** Lets the user choose a conversation, and goes on with it. Rejects with a `CliError`. */
  readonly resume: () => Promise<void>;
}

/** What a user can write in `harness chat` beside messages and answers. */
export const chatCommands = ({
  conversation,
  view,
  model,
  openModel,
  beginAnother,
  resume,
}: ChatCommandsOptions): LineCommand[] => {
  /** A command that cannot be carried out says why, and the conversation goes on. */
  const whereUsable = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!CliError.isInstance(error)) throw error;
      view.warn([error.message, ...error.hints.map(hintText)].join(". "));
    }
  };
  return [
    {
      word: "/model",
      help: ["/model [SPEC]", "use another model from the next message on; without SPEC: say which is used"],
      async run(spec) {
        const now = () => view.note(`model ${model.provider}: ${model.modelId}`);
        await whereUsable(async () => {
          if (spec !== "") model.current = await openModel(spec, "/model");
          now();
        });
      },
    },
    {
      word: "/cost",
      help: ["/cost", "what this conversation has used since the command began, and what it costs"],
      run: () => whereUsable(async () => view.note(conversation.tokens.text(await pricesOf()))),
    },
    {
      word: "/compact",
      help: ["/compact", "a summary replaces what was said for the model; this conversation keeps it"],
      run: () => conversation.compact(),
    },
    {
      word: "/resume",
      help: ["/resume", "choose another conversation, and go on with it; this one stays"],
      run: () => whereUsable(resume),
    },
    {
      word: "/diff",
      help: ["/diff", "what is changed in the directory since the last commit of git"],
      async run() {
        view.lines(await workspaceDiff(conversation.directory, view.style));
      },
    },
    {
      word: "/clear",
      help: ["/clear", "start a new conversation; this one is kept, with what is pending in it"],
      async run() {
        const before = conversation.sessionId;
        const sessionId = await beginAnother();
        view.note(`session ${sessionId} begins; the one before: harness chat --session ${before}`);
      },
    },
  ];
};
