import type { HubPlace } from "@harnesskit/hub/place";
import { settleWithin } from "@harnesskit/wire/time";
import { logFailure } from "../cli-error.ts";
import type { Spinner } from "../terminal/spinner.ts";
import type { View } from "../timeline/view.ts";
import type { HubQuestions } from "./hub-questions.ts";

export interface FollowQuestionsOptions {
  /** Undefined: no hub judges. */
  readonly place: HubPlace | undefined;
  readonly session: string;
  readonly command: string;
  readonly version: string;
  readonly view: View;
  readonly spinner: Spinner | undefined;
  /** Whether the user can be asked here now. */
  readonly asks: () => boolean;
  readonly beforeAsk: () => void;
  /** Called after Ctrl-C at a question. */
  readonly onCancel: () => void;
}

/** How long a conversation waits until its questions are followed. With a hub that is slower they may be shown late, or not at all. */
const startMs = 1000;

/** Shows what a conversation asks at the hub, asks the user here too, and shows who answered. Resolves before the first question can be missed. */
export const followQuestions = async ({
  place,
  session,
  command,
  version,
  view,
  spinner,
  asks,
  beforeAsk,
  onCancel,
}: FollowQuestionsOptions): Promise<Pick<HubQuestions, "answered" | "close"> | undefined> => {
  if (place === undefined) return undefined;
  const { HubQuestions } = await import("./hub-questions.ts");
  const questions = new HubQuestions({
    ...{ place, version, style: view.style, spinner, command, asks, beforeAsk, onCancel },
    askTerminal: { show: (lines) => view.lines(lines) },
    onError: (error) => logFailure(`${command}: the hub's inbox`, error),
  });
  await settleWithin(questions.follow(session), {
    ...{ name: "the hub's questions", timeoutMs: startMs, holdsProcess: false },
  });
  return questions;
};
