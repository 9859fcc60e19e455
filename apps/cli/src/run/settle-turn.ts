import { type FollowedTurn, ThreadFollower } from "../attach/thread-follower.ts";
import { withServer } from "../attach/with-server.ts";
import { CliError } from "../cli-error.ts";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import type { RunParts } from "./run-parts.ts";

/**
 * Brings a turn of a thread to its end that was begun before: shows it, answers what waits, and follows it. The first
 * Ctrl-C cancels it. Gives the turn that ended last, undefined where the thread had none. Rejects with a `CliError`
 * `approval_waiting` where nobody can be asked.
 */
export const settleTurn = async (
  threadId: string,
  { connecting, terminal, output, approver, interrupts, mode, notes }: RunParts,
): Promise<FollowedTurn | undefined> => {
  // To refuse for want of a terminal would be the end of a question that somebody else can still answer.
  if (mode === "no-terminal") throw approvalWaiting(threadId);
  const onError = notes.tellFollower;
  const follower = new ThreadFollower({ terminal, output, approver, onlyOpenTurn: true, onError });
  const { signal } = interrupts;
  return withServer({ ...connecting, onError }, async (client) => {
    const cancel = () => void client.cancelTurn(threadId).catch((error) => logFailure("harness run", error));
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await follower.follow(client, threadId);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  });
};

const approvalWaiting = (threadId: string): CliError =>
  new CliError(
    "approval_waiting",
    `The last turn of ${oneLine(threadId, 80)} has not ended: it waits for an answer, and there is no terminal to ask in`,
    {
      exitCode: ExitCode.refused,
      hint: "Answer it: the same command in a terminal, or with --approve once or --approve reject",
    },
  );
