import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Said, strictProvider } from "../../../test-kit/strict-provider/strict-provider.ts";
import { makeWorkspace, type Start, startProcess } from "./support/harness.ts";
import { startHarness } from "./support/in-process.ts";
import { ProtocolClient } from "./support/protocol-client.ts";

const names = ["one", "two", "three"];

/** A directory of its own, and a provider whose model asks for three commands in its first step; each adds its name to a file. */
const place = async () => {
  const cwd = await makeWorkspace();
  const provider = await strictProvider({
    says: (_request, index): Said =>
      index > 0
        ? { text: "All done." }
        : {
            calls: names.map((name) => ({
              id: `call_${name}`,
              name: "bash",
              input: { command: `echo ${name} >> done.txt` },
            })),
          },
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return {
    provider,
    start: (args: readonly string[], start: Start = startHarness) =>
      start([...args, "--model", `openai-compatible:${provider.url}/v1#m`], {
        cwd,
        env: { HOME: cwd, XDG_STATE_HOME: join(cwd, "state") },
      }),
    done: () => readFile(join(cwd, "done.txt"), "utf8"),
    /** What the model was told of each call, in their order. */
    results: () => {
      const { messages = [] } = (provider.requests.at(-1)?.body ?? {}) as {
        messages?: readonly { role: string; content: string }[];
      };
      return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    },
  };
};

const chat = ["chat", "--no-hub", "--session", "s1"];

it("harness chat asks all questions of a step together, and takes the answers in any order", async () => {
  const { provider, start, done, results } = await place();
  const program = start(chat);
  program.write("do all\n");
  const [, id] = await program.sees(/\/approve ([0-9a-f]{8})\.3 /);
  for (const name of names) expect(program.stdout).toContain(`echo ${name} >> done.txt`);
  program.write(`/approve ${id}.3\n/pending\n`);
  await program.sees(/› \/pending\n(?:(?!\.3 )[\s\S])*\.2 {3}/);
  program.write(`/reject ${id}.1 not this one\n/approve ${id}.3\n`);
  await program.sees(new RegExp(`Nothing waits under ${id}\\.3`));
  program.write(`/approve ${id}.2\n/quit\n`);
  const { code, stdout } = await program.ended;
  expect(stdout).toContain("All done.");
  // A call was rejected.
  expect(code).toBe(3);
  expect(await done()).toBe("two\nthree\n");
  expect(results()[0]).toContain("not this one");
  expect(provider.requests).toHaveLength(2);
  expect(provider.refusals).toEqual([]);
});

it("a chat that is killed between two answers of a step takes the others in its next process, and does each thing once", async () => {
  const { provider, start, done } = await place();
  const first = start(chat, startProcess);
  first.write("do all\n");
  const [, id] = await first.sees(/\/approve ([0-9a-f]{8})\.3 /);
  first.write(`/approve ${id}.2\n/pending\n`);
  await first.sees(/› \/pending\n(?:(?!\.2 )[\s\S])*\.3 {3}/);
  first.kill("SIGKILL");
  await first.ended;
  const next = start(chat);
  await next.sees(new RegExp(`/approve ${id}\\.3 `));
  expect(next.stdout).not.toContain(`/approve ${id}.2`);
  next.write(`/approve ${id}.3\n/approve ${id}.1\n/quit\n`);
  const { code, stdout } = await next.ended;
  expect(stdout).toContain("All done.");
  expect(code).toBe(0);
  expect(await done()).toBe("one\ntwo\nthree\n");
  expect(provider.requests).toHaveLength(2);
  expect(provider.refusals).toEqual([]);
});

it("a thread whose server is killed between two answers of a step takes the others from the next one, and does each thing once", async () => {
  const { provider, start, done, results } = await place();
  const serve = (by?: Start) => new ProtocolClient(start(["serve", "--no-policy"], by));
  const first = serve(startProcess);
  const threadId = await first.createThread();
  await first.startTurn(threadId, "do all");
  const asked = async (client: ProtocolClient) => {
    const requests = await client.several("approval.requested", names.length);
    const ids = requests.map(({ params }) => [JSON.stringify(params), params?.requestId] as const);
    return (name: string) => ids.find(([text]) => text.includes(`echo ${name} `))?.[1];
  };
  const answer = (client: ProtocolClient, requestId: unknown) =>
    client.call("approval.respond", { requestId, decision: "once" });
  const idOf = await asked(first);
  await answer(first, idOf("two"));
  first.program.kill("SIGKILL");
  await first.program.ended;
  const next = serve();
  await next.call("thread.subscribe", { threadId, afterSeq: 0 });
  for (const name of ["three", "one"]) expect((await answer(next, idOf(name))).error).toBeUndefined();
  await next.notified("turn.completed");
  // The call that was allowed before comes behind the first one, so it had not begun.
  for (const result of results()) expect(result).toMatch(/^\{"exitCode":0/);
  expect(await done()).toBe("one\ntwo\nthree\n");
  expect((await next.several("turn.completed", 1)).length).toBe(1);
  expect(provider.requests).toHaveLength(2);
  expect(provider.refusals).toEqual([]);
});
