import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { StartModule } from "../src/index.ts";
import { readFrames, toFrame } from "./peer-io.ts";
import type { AgentDeviation } from "./reference-agent.ts";
import type { Answer, Request } from "./reference-harness.ts";

/** A small client of threads behind the driver of the suite, or a mutant of it, on length-prefixed frames. */
export const startReferenceThreadClient =
  (deviation: AgentDeviation = {}): StartModule =>
  async ({ endpoint }) => {
    const skips = (rule: string) => deviation.skip === rule;
    const pending = new Map<unknown, (answer: Answer) => void>();
    const turns = new Map<string, { text?: string; approval?: string; end(result: Answer): void }>();
    let socket: Socket | undefined;
    let lastId = 0;

    const send = (message: Request): void => {
      const changed = deviation.send ? deviation.send(message) : message;
      if (changed !== undefined) socket?.write(toFrame(changed));
    };
    const call = async (
      method: string,
      params: Request,
      onAnswer = (_: Answer): void => {},
    ): Promise<Answer> => {
      const id = `r${++lastId}`;
      const answer = await new Promise<Answer>((resolve) => {
        pending.set(id, (value) => {
          onAnswer(value);
          resolve(value);
        });
        send({ jsonrpc: "2.0", id, method, params });
      });
      if (answer.error === undefined || skips("errors")) return answer.result ?? {};
      throw Object.assign(new Error("refused"), skips("codes") ? {} : { rpcCode: answer.error.code });
    };
    const told = ({ method, params }: Request): void => {
      const turn = turns.get(skips("own-turns") ? ([...turns.keys()][0] ?? "") : params?.turnId);
      if (turn === undefined) return;
      if (method === "item.delta" && skips("completed-items")) turn.text = (turn.text ?? "") + params.delta;
      if (method === "item.completed" && !skips("completed-items")) turn.text = params.item.data.text;
      if (method === "approval.requested" && !skips("approvals"))
        void call("approval.respond", { requestId: params.requestId, decision: turn.approval });
      if (method === "turn.completed")
        turn.end({ status: skips("cancelled") ? "completed" : params.status, text: turn.text });
      if (method === "turn.error")
        turn.end(skips("turn-errors") ? { status: "completed" } : { status: "error", error: params.error });
    };
    const receive = (message: Answer): void => {
      if (message.method !== undefined) {
        told(message);
        return;
      }
      const id = skips("ids") ? [...pending.keys()][0] : message.id;
      const settle = pending.get(id);
      pending.delete(id);
      settle?.(message);
    };

    const operations: Record<string, (params: Request) => Promise<unknown>> = {
      async connect() {
        socket = connect({ path: endpoint.slice(5) });
        socket.on("error", () => {});
        readFrames(socket, { pieces: skips("pieces") }, (content) => receive(JSON.parse(content.toString())));
        await once(socket, "connect");
        return await call("initialize", { clientInfo: { name: "reference" } });
      },
      create_thread: ({ title }) => call("thread.create", { title }),
      list_threads: () => call("thread.list", {}),
      get_thread: ({ threadId }) => call("thread.get", { threadId }),
      start_turn: ({ threadId, text, approval }) =>
        new Promise((resolve, reject) => {
          // Before anything that follows the reply is read.
          const onAnswer = ({ result }: Answer): void => {
            const turnId: string = result?.turnId ?? "";
            turns.set(turnId, {
              approval,
              end: (outcome) => {
                turns.delete(turnId);
                resolve(outcome);
              },
            });
          };
          call("turn.start", { threadId, input: [{ type: "text", text }] }, onAnswer).catch(reject);
        }),
      cancel_turn: ({ threadId }) => call("turn.cancel", { threadId }),
      respond_approval: ({ requestId, decision }) => call("approval.respond", { requestId, decision }),
      close: async () => socket?.destroy() && {},
    };
    return {
      async do(operation, params) {
        const given = (await operations[operation]?.(params as Request)) ?? {};
        return deviation.give ? deviation.give(given, operation) : given;
      },
      async close() {
        socket?.destroy();
      },
    };
  };
