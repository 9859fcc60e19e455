import { toModelReference } from "@harnesskit/models";
import type { ItemData } from "@harnesskit/protocol/threads";
import { createThreadClient } from "@harnesskit/thread-client";
import { summarySize } from "@harnesskit/wire/replay";
import { CliError, ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { RunServer } from "../run/run-server.ts";
import { checkedModel } from "../serve/models.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { workspaceDirectory } from "../workspace-directory.ts";
import { servedThreadId } from "./thread-ids.ts";
import { toPlaceFailure } from "./thread-place.ts";

export interface CompactCommandOptions {
  readonly cwd?: string;
  readonly attach?: string;
  readonly model?: string;
  readonly json?: true;
}

/** `harness threads compact`: has the model make a summary of a thread, which it is given in the place of the turns before. */
export const compactCommand = async (
  given: string,
  { cwd, attach, model, json }: CompactCommandOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  if (model !== undefined) checkedModel(model);
  const workspace = await workspaceDirectory(cwd ?? io().cwd());
  const server = new RunServer({ attach, service: { cwd: workspace, model: model ?? "offline", version } });
  const clientInfo = { name: "harness threads" };
  const client = createThreadClient({ transport: server, reconnect: false, clientInfo });
  let threadId = given;
  const summaries: {
    readonly text: string;
    readonly summary: NonNullable<ItemData<"assistant_message">["summary"]>;
  }[] = [];
  try {
    await server.opened();
    await client.connect();
    threadId = await servedThreadId(client, given);
    const turn = await client.compactThread({
      threadId,
      model: model === undefined ? undefined : toModelReference(model),
    });
    for await (const { type, data } of turn) {
      if (type !== "item.completed" || data.item.type !== "assistant_message") continue;
      const { text, summary } = data.item.data ?? {};
      if (text !== undefined && summary) summaries.push({ text, summary });
    }
    const end = await turn.result;
    if (end.status === "error") throw new CliError(end.code, end.error);
    if (end.status !== "completed") return ExitCode.failed;
  } catch (error) {
    throw toPlaceFailure(error, threadId, { cwd: workspace, attach });
  } finally {
    await client.close();
    await server.close();
  }
  const terminal = createTerminal();
  const [made] = summaries;
  if (json) terminal.json({ threadId, summary: made && { text: made.text, ...made.summary } });
  else if (!made) terminal.say("Nothing to summarise: no turn has ended since the last summary");
  else {
    const text = made.text.split("\n");
    const what = `${summarySize(made.summary)} are left out of what the model is given. This stands for them:`;
    terminal.say([what, "", ...text]);
  }
  return ExitCode.done;
};
