import type { AhpHandlers } from "@harnesskit/ahp-server";
import { createManualClock } from "@harnesskit/wire/testing";
import { generateText, tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { superviseTools } from "../../src/ai-sdk/index.ts";
import type { SupervisionOptions } from "../../src/index.ts";
import type { EscalationRequest } from "../../src/supervise/supervision-options.ts";
import { startHarness } from "./in-process.ts";
import { rejection, scripted } from "./models.ts";

const escalate = () =>
  ({ decision: "escalate", reason: "production", escalation_target: "on-call" }) as const;

const start = async (
  handlers: AhpHandlers<unknown>,
  options: SupervisionOptions = {},
  own: { readonly needsApproval?: any } = {},
) => {
  const harness = await startHarness(handlers);
  const runs: unknown[] = [];
  const deploy = tool({
    inputSchema: z.object({ target: z.string() }),
    execute: async (input) => {
      runs.push(input);
      return "deployed";
    },
    ...own,
  });
  const { deploy: supervised } = superviseTools({ deploy }, harness.client, options);
  const run = (target = "eu", more: object = {}) =>
    supervised.execute?.({ target }, { toolCallId: "c1", messages: [], ...more }) as PromiseLike<unknown>;
  return { ...harness, deploy, supervised, run, runs };
};

describe("an escalated tool call", () => {
  it("is confirmed by the harness, with all of its arguments shown safely", async () => {
    const { run, runs, of } = await start({
      pre_action: escalate,
      confirmation: () => ({ decision: "approve" }),
    });
    await expect(run("eu\u202e\u0000")).resolves.toBe("deployed");
    expect(runs).toEqual([{ target: "eu\u202e\u0000" }]);
    expect(of("confirmation")).toEqual([
      {
        session_id: "sess-abc",
        confirmation_type: "safety_confirm",
        message:
          'Run the tool "deploy" with these arguments?\n{\n  "target": "eu⟨U+202E⟩\\u0000"\n}\nReason: production',
        options: ["approve", "reject"],
      },
    ]);
  });

  it("does not run when the confirmation is rejected, escalated once more, or fails", async () => {
    const answers: [any, object][] = [
      [() => ({ decision: "reject", reason: "not today" }), { code: "refused", reason: "not today" }],
      [() => ({ decision: "escalate" }), { code: "unavailable" }],
      [() => ({ decision: "allow" }), { code: "unavailable", failure: "harness_error" }],
      [
        () => {
          throw new Error("down");
        },
        { code: "unavailable", failure: "harness_error" },
      ],
    ];
    for (const [confirmation, expected] of answers) {
      const { run, runs } = await start({ pre_action: escalate, confirmation });
      expect(await rejection(run())).toMatchObject({
        name: "SupervisionError",
        eventType: "confirmation",
        toolName: "deploy",
        ...expected,
      });
      expect(runs).toEqual([]);
    }
  });

  it("is put to onEscalate where there is one, and only a plain yes runs it", async () => {
    const asked: EscalationRequest[] = [];
    const answers: any[] = [
      { approved: false, reason: "no" },
      { approved: "true" },
      true,
      "yes",
      null,
      undefined,
      {},
      { approved: true },
    ];
    const { run, runs, types } = await start(
      { pre_action: escalate, confirmation: () => ({ decision: "approve" }) },
      {
        onEscalate: (request) => {
          asked.push(request);
          return answers.shift();
        },
      },
    );
    expect(await rejection(run())).toMatchObject({ code: "refused", reason: "no", message: "Refused: no" });
    for (let each = 0; each < 6; each++) expect(await rejection(run())).toMatchObject({ code: "refused" });
    expect(runs).toEqual([]);
    await expect(run()).resolves.toBe("deployed");
    expect(types()).not.toContain("confirmation");
    expect(asked[0]).toMatchObject({
      eventType: "pre_action",
      reason: "production",
      target: "on-call",
      toolName: "deploy",
      toolCallId: "c1",
      payload: { tool_name: "deploy", arguments: { target: "eu" } },
    });
    expect(asked[0]?.message).toContain('"target": "eu"');
    expect(asked[0]).not.toHaveProperty("confirmationType");
  });

  it("does not run when onEscalate fails, is too late, or the call is aborted", async () => {
    const failing = await start(
      { pre_action: escalate },
      {
        onEscalate: () => {
          throw new TypeError("broken");
        },
      },
    );
    const error = await rejection(failing.run());
    expect(error).toMatchObject({ code: "unavailable", cause: { name: "TypeError" } });
    const clock = createManualClock();
    const signals: AbortSignal[] = [];
    const never = await start(
      { pre_action: escalate },
      {
        clock,
        escalationTimeoutMs: 5000,
        onEscalate: ({ signal }) => {
          signals.push(signal);
          return new Promise(() => {});
        },
      },
    );
    const late = rejection(never.run());
    await expect.poll(() => signals.length).toBe(1);
    clock.advance(5000);
    expect(await late).toMatchObject({ code: "timed_out" });
    expect(signals[0]?.aborted).toBe(true);
    const abort = new AbortController();
    const given = rejection(never.run("eu", { abortSignal: abort.signal }));
    await expect.poll(() => signals.length).toBe(2);
    abort.abort();
    expect(await given).toMatchObject({ code: "cancelled" });
    expect(signals[1]?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
    expect([failing.runs, never.runs]).toEqual([[], []]);
  });
});

describe("a tool that needs approval", () => {
  it("is confirmed once, when it is about to run", async () => {
    const { run, runs, of, types } = await start(
      { confirmation: () => ({ decision: "approve" }) },
      {},
      { needsApproval: true },
    );
    await run();
    expect(types().slice(0, 2)).toEqual(["pre_action", "confirmation"]);
    expect(of("confirmation")).toMatchObject([
      { confirmation_type: "user_confirm", message: expect.stringContaining("the tool needs approval") },
    ]);
    expect(runs).toHaveLength(1);
    const escalated = await start(
      { pre_action: escalate, confirmation: () => ({ decision: "approve" }) },
      {},
      { needsApproval: true },
    );
    await escalated.run();
    expect(escalated.of("confirmation")).toMatchObject([{ confirmation_type: "safety_confirm" }]);
  });

  it("is asked by its own function about what would run, which cannot change it", async () => {
    const asked: unknown[] = [];
    const { run, runs, of } = await start(
      {
        pre_action: ({ payload }: any) =>
          payload.arguments.target === "eu"
            ? { decision: "modify", modified_payload: { arguments: { target: "us" } } }
            : { decision: "allow" },
        confirmation: () => ({ decision: "approve" }),
      },
      {},
      {
        needsApproval: (input: { target: string }) => {
          asked.push({ ...input });
          input.target = "mars";
          return asked.length === 1;
        },
      },
    );
    await run();
    await run();
    expect(asked).toEqual([{ target: "us" }, { target: "us" }]);
    expect(of("confirmation")).toHaveLength(1);
    expect(runs).toEqual([{ target: "us" }, { target: "us" }]);
  });

  it("does not run when its own function fails", async () => {
    const { run, runs } = await start(
      { confirmation: () => ({ decision: "approve" }) },
      {},
      {
        needsApproval: () => {
          throw new TypeError("broken");
        },
      },
    );
    expect(await rejection(run())).toMatchObject({ code: "unavailable", cause: { name: "TypeError" } });
    expect(runs).toEqual([]);
  });

  it("keeps the SDK's flow where that is wanted, and confirms what was modified after it", async () => {
    const { run, runs, of, deploy, supervised } = await start(
      { confirmation: () => ({ decision: "reject", reason: "another target" }) },
      { approvals: "sdk" },
      { needsApproval: true },
    );
    expect(supervised.needsApproval).toBe(deploy.needsApproval);
    await run();
    expect(of("confirmation")).toEqual([]);
    expect(runs).toEqual([{ target: "eu" }]);
    const { model } = scripted({ calls: [["deploy", { target: "eu" }]] });
    const { content } = await generateText({ model, prompt: "go", tools: { deploy: supervised } });
    expect(content.map(({ type }) => type)).toContain("tool-approval-request");
    const modified = await start(
      {
        pre_action: () => ({ decision: "modify", modified_payload: { arguments: { target: "us" } } }),
        confirmation: () => ({ decision: "reject", reason: "another target" }),
      },
      { approvals: "sdk" },
      { needsApproval: true },
    );
    expect(await rejection(modified.run())).toMatchObject({ code: "refused", reason: "another target" });
    expect(modified.runs).toEqual([]);
  });
});
