import type { createModel } from "@harnesskit/models";
import { CliError } from "../cli-error.ts";
import type { LineCommand } from "../terminal/line-conversation.ts";
import { oneLine } from "../terminal/text.ts";
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
}

/** What a user can write in `harness chat` beside messages and answers. */
export const chatCommands = ({
  conversation,
  view,
  model,
  openModel,
  beginAnother,
}: ChatCommandsOptions): LineCommand[] => [
  {
    word: "/model",
    help: ["/model [SPEC]", "use another model from the next message on; without SPEC: say which is used"],
    async run(spec) {
      const now = () => view.note(`model ${oneLine(`${model.provider}: ${model.modelId}`, 200)}`);
      if (spec === "") return now();
      try {
        model.current = await openModel(spec, "/model");
        now();
      } catch (error) {
        if (!CliError.isInstance(error)) throw error;
        view.warn(error.hint === undefined ? error.message : `${error.message}. ${error.hint}`);
      }
    },
  },
  {
    word: "/cost",
    help: ["/cost", "the tokens that this conversation has used since the command began"],
    run: () => view.note(conversation.tokens.text),
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
    help: ["/clear", "begin another conversation; this one stays, and what waits in it"],
    async run() {
      const before = conversation.sessionId;
      const sessionId = await beginAnother();
      view.note(
        `session ${oneLine(sessionId, 80)} begins; the one before: harness chat --session ${oneLine(before, 80)}`,
      );
    },
  },
];
