import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { createShellEngine, type ShellCall, type ShellReply } from "@harnesskit/shell-engine";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { onTestFinished } from "vitest";

export const engineToken = "token-of-the-shell-tests";

export type Answers = Readonly<Record<string, (call: ShellCall) => ShellReply | readonly ActionDirective[]>>;

export const say = (message: string): ActionDirective => ({
  action_type: "render_message",
  payload: { message },
});

export const card = (
  component: string,
  data: ActionDirective["payload"],
  title?: string,
): ActionDirective => ({
  action_type: "render_ui",
  payload: { component, data: data ?? null, ...(title === undefined ? {} : { title }) },
});

/** A question, and what comes of the answer. */
const question = (): ShellReply => ({
  directives: [
    {
      action_type: "request_approval",
      risk_tier: "dangerous",
      payload: {
        title: "Delete it?",
        message: "The notes.",
        subject: { tool: "delete", input: { path: "notes" } },
      },
    },
  ],
  continueWith: {},
});

export interface RunningShellEngine {
  readonly url: string;
  readonly tokenFile: string;
  /** What was asked, in order: intents, and answers as `approved` or `refused: REASON`. */
  readonly heard: string[];
  readonly sessions: Set<string>;
  close(): Promise<void>;
}

/** An engine over HTTP, with a token in a file of the directory. It repeats what it does not know. */
export const startShellEngine = async (
  directory: string,
  answers: Answers = {},
  change: (response: { action_directives?: ActionDirective[] }) => void = () => {},
): Promise<RunningShellEngine> => {
  const heard: string[] = [];
  const sessions = new Set<string>();
  const intent = (call: ShellCall): ShellReply | readonly ActionDirective[] => {
    sessions.add(call.conversation.sessionId);
    if (call.approval) {
      const { decision, reason } = call.approval;
      heard.push(reason === undefined ? decision : `${decision}: ${reason}`);
      return [say(decision === "approved" ? "Deleted." : "Kept.")];
    }
    const words = call.intent ?? "";
    heard.push(words);
    if (words === "delete") return question();
    return Object.hasOwn(answers, words) ? (answers[words]?.(call) ?? []) : [say(`You said: ${words}`)];
  };
  const booking = ({ task }: ShellCall) => [say(`Booked: ${JSON.stringify(task?.form_values)}`)];
  const engine = createShellEngine({ handlers: { intent, plugins: { booking } } });
  const handle: typeof engine.handle = async (message, context) => {
    // The JSON of a response is made beside it: what is changed is a copy.
    const answer = structuredClone(await engine.handle(message, context));
    change(answer.response as Parameters<typeof change>[0]);
    return answer;
  };
  const server = createHttpServer({ routes: { "/openharness": { ...engine, handle } }, token: engineToken });
  await server.listen();
  onTestFinished(() => server.close());
  const tokenFile = join(directory, "token");
  await writeFile(tokenFile, `${engineToken}\n`, { mode: 0o600 });
  return { url: `${server.url}/openharness`, tokenFile, heard, sessions, close: () => server.close() };
};
