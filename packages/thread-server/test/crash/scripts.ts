import type { Life, TurnStep } from "./life.ts";

/** What one server does for its clients, from its start to its end. */
export interface Script {
  readonly name: string;
  /** Short writes: each takes at most so many bytes. */
  readonly maxWriteBytes?: number;
  run(life: Life): Promise<void>;
}

const create = async (life: Life, name: string): Promise<string> => {
  const { result } = await life.client.call("thread.create", { title: name, clientRequestId: name });
  return result.thread.threadId;
};

const turn = async (
  life: Life,
  threadId: string,
  name: string,
  steps: readonly TurnStep[],
): Promise<void> => {
  const { result } = await life.start(threadId, name, steps);
  await life.drive(result.turnId);
};

const untilAsked = (life: Life, turnId: string) =>
  life.client.notification("approval.requested", (params) => params.turnId === turnId);

export const scripts: readonly Script[] = [
  {
    name: "two turns that say something",
    async run(life) {
      const threadId = await create(life, "talk");
      await turn(life, threadId, "talk 1", [{ say: ["one ", "two ", "three"] }]);
      await turn(life, threadId, "talk 2", [{ say: ["four"] }, { say: ["five ", "six"] }]);
      await life.server.close();
    },
  },
  {
    name: "tools that run by themselves, once, never and always",
    async run(life) {
      const threadId = await create(life, "tools");
      await turn(life, threadId, "tools 1", [
        { say: ["look"] },
        { tool: "read", command: "read-1" },
        { tool: "bash", command: "once-1" },
        { tool: "bash", command: "reject-1" },
        { tool: "bash", command: "always-1" },
        { say: ["done"] },
      ]);
      await turn(life, threadId, "tools 2", [{ tool: "bash", command: "always-1" }, { say: ["again"] }]);
      await life.server.close();
    },
  },
  {
    name: "turns that are cancelled, running and waiting",
    async run(life) {
      const threadId = await create(life, "cancel");
      const running = await life.start(threadId, "cancel 1", [
        { say: ["a ", "b"] },
        { tool: "hang", command: "hang-1" },
      ]);
      await life.client.notification("item.delta", ({ type }) => type === "tool_log");
      await life.client.call("turn.cancel", { threadId });
      await life.client.turnEnd(running.result.turnId);
      const waiting = await life.start(threadId, "cancel 2", [{ tool: "bash", command: "once-2" }]);
      await untilAsked(life, waiting.result.turnId);
      await life.client.call("turn.cancel", { threadId });
      await life.client.turnEnd(waiting.result.turnId);
      await life.server.close();
    },
  },
  {
    name: "a turn that is left waiting for its second approval",
    async run(life) {
      const threadId = await create(life, "wait");
      const { result } = await life.start(threadId, "wait 1", [
        { say: ["first"] },
        { tool: "bash", command: "once-3" },
        { tool: "bash", command: "once-4" },
        { say: ["last"] },
      ]);
      const { params } = await untilAsked(life, result.turnId);
      await life.answer(params.requestId, "once-3");
      await life.client.notification(
        "approval.requested",
        ({ metadata }) => metadata.input.command === "once-4",
      );
      await life.server.close();
    },
  },
  {
    name: "output that is kept in files, by a disk that takes little at a time",
    maxWriteBytes: 700,
    async run(life) {
      const threadId = await create(life, "big");
      await turn(life, threadId, "big 1", [{ tool: "big", command: "big-1" }, { say: ["kept"] }]);
      await life.server.close();
    },
  },
  {
    name: "a thread that is deleted beside one that stays",
    async run(life) {
      const gone = await create(life, "gone");
      const stays = await create(life, "stays");
      await turn(life, gone, "gone 1", [{ tool: "bash", command: "always-5" }]);
      await turn(life, stays, "stays 1", [{ tool: "bash", command: "always-6" }]);
      await life.client.call("thread.delete", { threadId: gone });
      await turn(life, stays, "stays 2", [{ tool: "bash", command: "always-6" }, { say: ["still"] }]);
      await life.server.close();
    },
  },
];
