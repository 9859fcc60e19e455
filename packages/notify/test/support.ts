import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { sampleQuestion } from "@harnesskit/approvals/testing";
import { createManualClock } from "@harnesskit/wire/testing";
import { onTestFinished } from "vitest";
import { createNotifier, type NotifierOptions, parseNotifyConfig } from "../src/index.ts";

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly json: Record<string, unknown>;
}

/** A stand-in of a service: keeps what it receives, and answers with the next of `statuses`, then with 200. */
export const startService = async (statuses: readonly (number | Record<string, string>)[] = []) => {
  const received: Received[] = [];
  const next = [...statuses];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += String(chunk);
    });
    request.on("end", () => {
      const answer = next.shift() ?? 200;
      const isKept = answer === 200;
      if (isKept)
        received.push({ path: request.url ?? "", headers: request.headers, body, json: JSON.parse(body) });
      if (typeof answer === "number") response.writeHead(answer).end("answer");
      else response.writeHead(Number(answer.status), answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

export const links = {
  page: (id?: string) => `http://127.0.0.1:7/#/inbox${id === undefined ? "" : `/${id}`}`,
};

/** A notifier over a store in memory, with a clock by hand. */
export const openNotifier = (yaml: string, options: Partial<NotifierOptions> = {}, env = {}) => {
  const clock = createManualClock();
  const store = createMemoryApprovalStore({ clock });
  const errors: { readonly code: string; readonly message: string; readonly isFinal: boolean }[] = [];
  const start = () => {
    const notifier = createNotifier({
      config: parseNotifyConfig(yaml, env),
      source: store,
      links,
      clock,
      onError: (error) => errors.push(error as never),
      ...options,
    });
    notifier.start();
    onTestFinished(() => notifier.close());
    return notifier;
  };
  // The same action is the same question: each has a command of its own.
  const ask = async (callId: string, change: Parameters<typeof sampleQuestion>[0] = {}) => {
    const subject = { input: { command: `npm test ${callId}` }, ...change.subject };
    return (await store.ask(sampleQuestion({ ...change, subject, origin: { callId, ...change.origin } })))
      .record;
  };
  return { clock, store, errors, start, ask };
};
