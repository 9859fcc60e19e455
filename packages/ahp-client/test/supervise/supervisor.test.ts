import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, Runner, tool } from "@openai/agents-core";
import { describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { createSupervisor, SupervisionError } from "../../src/index.ts";
import { startHarness } from "../ai-sdk/in-process.ts";

const argumentsOf = (payload: unknown) => (payload as { arguments: { command: string } }).arguments;
const promptOf = (payload: unknown) => JSON.stringify((payload as { prompt: unknown }).prompt);

const typesOf = (seen: readonly { readonly type: string }[]) => seen.map(({ type }) => type);

describe("a bare loop over fetch", () => {
  /** A server that speaks as a model's provider does: first a call of a tool, then a text. */
  const startProvider = async () => {
    const bodies: { messages: { role: string; content: string }[] }[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => {
        text += String(chunk);
      });
      request.on("end", () => {
        bodies.push(JSON.parse(text));
        const call = {
          id: "c1",
          type: "function",
          function: { name: "shell", arguments: '{"command":"ls"}' },
        };
        const message =
          bodies.length === 1
            ? { role: "assistant", tool_calls: [call] }
            : { role: "assistant", content: "done" };
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ choices: [{ message }] }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
    return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  };

  it("has its model and its tools judged, and runs what the harness wants", async () => {
    const harness = await startHarness({
      pre_action: ({ payload }) =>
        argumentsOf(payload).command === "ls"
          ? { decision: "modify", modified_payload: { arguments: { command: "ls -l" } } as never }
          : { decision: "allow" },
    });
    const provider = await startProvider();
    const supervisor = createSupervisor(harness.client);
    const runs: unknown[] = [];
    const messages: Record<string, unknown>[] = [{ role: "user", content: "list the files" }];
    let text: unknown;
    while (text === undefined) {
      const answer = await supervisor.callModel({
        model: "gpt-test",
        provider: "openai",
        messages,
        tools: ["shell"],
        async call(judged) {
          const body = JSON.stringify({ model: "gpt-test", messages: judged });
          const response = await fetch(provider.url, { method: "POST", body });
          return (
            ((await response.json()) as { choices: { message: Record<string, any> }[] }).choices[0]
              ?.message ?? {}
          );
        },
        summarise: ({ content }) => (typeof content === "string" ? { text: content } : {}),
      });
      messages.push(answer);
      for (const { id, function: called } of answer.tool_calls ?? []) {
        const content = await supervisor.runTool({
          name: called.name,
          callId: id,
          input: JSON.parse(called.arguments),
          schema: z.object({ command: z.string() }),
          run: (input) => {
            runs.push(input);
            return "a.txt";
          },
        });
        messages.push({ role: "tool", tool_call_id: id, content });
      }
      text = answer.content;
    }
    await harness.settled();
    expect(text).toBe("done");
    expect(runs).toEqual([{ command: "ls -l" }]);
    expect(typesOf(harness.seen)).toEqual([
      ...[
        "pre_prompt",
        "post_response",
        "pre_action",
        "pre_action",
        "post_action",
        "pre_prompt",
        "post_response",
      ],
    ]);
    expect(harness.seen[4]?.payload).toMatchObject({
      outcome: "success",
      result: "a.txt",
      arguments_modified: true,
    });
    expect(provider.bodies[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "a.txt" });
  });

  it("sends the messages that the harness wants, and nothing where it blocks", async () => {
    const wanted = [{ role: "user", content: "[removed]" }];
    const harness = await startHarness({
      pre_prompt: ({ payload }) =>
        promptOf(payload).includes("password")
          ? { decision: "modify", modified_payload: { prompt: wanted } as never }
          : { decision: promptOf(payload).includes("bad") ? "block" : "allow", reason: "no" },
    });
    const supervisor = createSupervisor(harness.client);
    const call = async (given: unknown) => given;
    expect(
      await supervisor.callModel({ model: "m", messages: [{ role: "user", content: "password" }], call }),
    ).toEqual(wanted);
    await expect(
      supervisor.callModel({ model: "m", messages: [{ role: "user", content: "bad" }], call }),
    ).rejects.toMatchObject({ code: "blocked", eventType: "pre_prompt" });
    await expect(
      supervisor.callModel({ model: "m", messages: [{ at: () => 1 }], call }),
    ).rejects.toMatchObject({ code: "unjudgeable" });
  });
});

it("shows a harness a part of the newest message, however many large texts that has", async () => {
  const harness = await startHarness({});
  const supervisor = createSupervisor(harness.client, { limits: { maxEventTextBytes: 10_000 } });
  const results = Array.from({ length: 20 }, (_, index) => ({
    output: `result ${index} ${"x".repeat(5000)}`,
  }));
  const messages = [
    { role: "system", content: "short" },
    { role: "user", content: "old" },
    { role: "tool", content: results },
  ];
  await supervisor.callModel({ model: "m", messages, call: () => "done" });
  const [asked] = harness.seen;
  expect(asked?.payload).toMatchObject({ truncated: true, omitted_messages: 0 });
  for (const index of results.keys()) expect(promptOf(asked?.payload)).toContain(`result ${index} x`);
});

describe("a tool of a call of no framework", () => {
  const start = async (handlers: Parameters<typeof startHarness>[0] = {}) => {
    const harness = await startHarness(handlers);
    return { ...harness, supervisor: createSupervisor(harness.client) };
  };

  const outcomes = (payloads: readonly any[]) =>
    payloads.map(({ outcome, result, error }) => [outcome, result ?? error?.message]);

  it.each(["to its end", "with a value of its own", "with an error", "and stopped early"])(
    "may return a generator, which is reported once it is read %s",
    async (way) => {
      const { supervisor, settled, of } = await start();
      const run = async function* () {
        yield "first";
        if (way === "with an error") throw new RangeError("no disk");
        yield "last";
        if (way === "with a value of its own") return "whole";
        return undefined;
      };
      const output = await supervisor.runTool({ name: "lines", input: {}, run });
      await settled();
      expect(of("post_action")).toEqual([]);
      const read: unknown[] = [];
      const reading = (async () => {
        for await (const line of output) {
          read.push(line);
          if (way === "and stopped early") break;
        }
      })();
      await (way === "with an error" ? expect(reading).rejects.toThrow(RangeError) : reading);
      expect(read).toEqual(
        way === "with an error" || way === "and stopped early" ? ["first"] : ["first", "last"],
      );
      await settled();
      const expected = {
        "to its end": ["success", "last"],
        "with a value of its own": ["success", "whole"],
        "with an error": ["error", "no disk"],
        "and stopped early": ["cancelled", undefined],
      }[way];
      expect(outcomes(of("post_action"))).toEqual([expected]);
    },
  );
});

it("nothing runs whose caller gives it up while the harness allows it, whatever the client makes of its signal", async () => {
  const abort = new AbortController();
  const decide = async () => {
    abort.abort();
    return { origin: "harness", decision: { decision: "allow" } };
  };
  const supervisor = createSupervisor({ sessionId: "s", decide, notify: () => true } as never);
  const { signal } = abort;
  const ran: string[] = [];
  const tool = { name: "x", input: {}, signal, run: () => ran.push("tool") };
  await expect(supervisor.runTool(tool)).rejects.toMatchObject({ code: "cancelled" });
  const model = { model: "m", messages: [], signal, call: () => ran.push("model") };
  await expect(supervisor.callModel(model)).rejects.toMatchObject({ code: "cancelled" });
  expect(ran).toEqual([]);
});

describe("a tool of the OpenAI Agents SDK", () => {
  it("is refused, and not blocked by the policy, where a human said no", async () => {
    const approval = { id: "a", status: "rejected", by: "ada (page)" };
    const harness = await startHarness({
      pre_action: () => ({ decision: "block", reason: "refused by ada (page)", metadata: { approval } }),
    });
    const calling = createSupervisor(harness.client).runTool({ name: "shell", input: {}, run: () => "ran" });
    await expect(calling).rejects.toMatchObject({
      name: "SupervisionError",
      code: "refused",
      message: "Refused by ada (page)",
    });
  });

  it("runs behind the harness, and its model gets the reason where it does not", async () => {
    const harness = await startHarness({
      pre_action: ({ payload }) =>
        argumentsOf(payload).command.startsWith("rm")
          ? { decision: "block", reason: "it removes files" }
          : { decision: "allow" },
    });
    const supervisor = createSupervisor(harness.client);
    const runs: unknown[] = [];
    const schema = z.object({ command: z.string() });
    const shell = tool({
      name: "shell",
      description: "Runs a command",
      parameters: schema,
      // Without it the model learns only that something failed.
      errorFunction: (_context, error) => (error as Error).message,
      execute: (input, _context, details) =>
        supervisor.runTool({
          ...{ name: "shell", input, schema },
          ...(details?.toolCall && { callId: details.toolCall.callId }),
          run: (judged) => {
            runs.push(judged);
            return "ran";
          },
        }),
    });
    const call = (callId: string, command: string) =>
      ({
        type: "function_call",
        callId,
        name: "shell",
        arguments: JSON.stringify({ command }),
        status: "completed",
      }) as const;
    const answers = [
      [call("c1", "ls"), call("c2", "rm -rf build")],
      [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "done" }],
        },
      ],
    ];
    const requests: unknown[] = [];
    const model = {
      async getResponse(request: { input: unknown }) {
        requests.push(request.input);
        const usage = { requests: 1, inputTokens: 0, outputTokens: 0, totalTokens: 0, add() {} };
        return { usage, output: answers.shift() ?? [] };
      },
    };
    const agent = new Agent({ name: "worker", instructions: "work", tools: [shell], model: model as never });
    const result = await new Runner({ tracingDisabled: true }).run(agent, "go");
    await harness.settled();
    expect(result.finalOutput).toBe("done");
    expect(runs).toEqual([{ command: "ls" }]);
    expect(JSON.stringify(requests[1])).toContain("Blocked by policy: it removes files");
    expect(harness.seen.map(({ payload }) => payload.tool_call_id)).toEqual(
      expect.arrayContaining(["c1", "c2"]),
    );
  });
});

it("refuses a call with a field that it does not know, and asks nobody", async () => {
  const harness = await startHarness({});
  const supervisor = createSupervisor(harness.client);
  const calls = [
    supervisor.runTool({ name: "shell", args: { command: "ls" }, run: () => 1 } as never),
    supervisor.callModel({ model: "m", prompt: "hello", call: () => 1 } as never),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "invalid_argument" });
  await harness.settled();
  expect(harness.seen).toEqual([]);
});

it("as the guide's loop, answers the model where it made up a tool, was blocked or wrote no JSON", async () => {
  const page = await readFile(new URL("../../../../docs/supervise.md", import.meta.url), "utf8");
  const [, code = ""] =
    /^```javascript\n(?:import [^\n]+\n)+(.*?callModel.*?)^```$/ms.exec(
      page.split("## Your own loop")[1] ?? "",
    ) ?? [];
  const harness = await startHarness({
    pre_action: ({ payload }) =>
      argumentsOf(payload).command === "rm" ? { decision: "block", reason: "no" } : { decision: "allow" },
  });
  const called = [
    ["teleport", "{}"],
    ["constructor", "{}"],
    ["shell", '{"command":"rm"}'],
    ["shell", "{"],
    ["shell", '{"command":"ls"}'],
  ].map(([name, text], index) => ({ id: `c${index}`, function: { name, arguments: text } }));
  const given = {
    ...{ createSupervisor, SupervisionError, client: harness.client, url: "", headers: {} },
    fetch: async () => ({ json: async () => ({ choices: [{ message: { tool_calls: called } }] }) }),
    messages: [] as { readonly content?: string }[],
    tools: new Map([["shell", ({ command }: { command: string }) => `ran ${command}`]]),
  };
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await new AsyncFunction(...Object.keys(given), code)(...Object.values(given));
  expect(given.messages.slice(1).map(({ content }) => content)).toEqual([
    'There is no tool "teleport".',
    'There is no tool "constructor".',
    "Blocked by policy: no",
    "The arguments are not JSON.",
    '"ran ls"',
  ]);
  await harness.settled();
  expect(typesOf(harness.seen).filter((type) => type === "pre_action")).toHaveLength(2);
});
