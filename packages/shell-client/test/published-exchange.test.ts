import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { createShellEngine, type ShellCall, type ShellEngineOptions } from "@harnesskit/shell-engine";
import { createHttpExchange, createHttpServer } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { createShellClient, type ShellClientOptions } from "../src/index.ts";
import { codesOf, outcomesOf } from "./support.ts";

/** The request of section 17 of the specification, word for word. */
const published = {
  protocol_version: "1.0.0",
  request_id: "req_01jqxyz",
  correlation_id: "corr_8f3a",
  capabilities: { "openharness.actions.parallel": true, "openharness.ui.rich_cards": true },
  request: {
    auth: { tenant_id: "usr_9527", credential_ref: "cred_opaque_abc" },
    context: {
      session_id: "sess_8848",
      conversation_id: "conv_tab_2",
      user_intent: "Continue the onboarding SOP.",
      task_hint: { sop_id: "sop_onboard", business_key: "deal_42" },
      continuation: { run_id: "run_7d2", continuation_token: "ctok_aq9" },
      shell: { shell_kind: "im_bot", shell_version: "2.1.0", locale: "zh-CN", timezone: "Asia/Shanghai" },
      attachments: [{ ref_id: "att_01", mime_type: "image/png" }],
      environment_state: {
        privacy_tier: "restricted",
        os: "macOS",
        active_window: "Excel",
        screen_hash: "a1b2c3d4",
      },
    },
  },
} as const;

/** Its response; how long the engine took is the engine's own. */
const publishedResponse = {
  protocol_version: "1.0.0",
  request_id: "req_01jqxyz",
  correlation_id: "corr_8f3a",
  supported_protocol_versions: ["1.0.0"],
  supported_capabilities: { "openharness.actions.parallel": true, "openharness.ui.rich_cards": true },
  capability_denials: [],
  response: {
    status: "success",
    engine_latency_ms: expect.any(Number),
    action_directives: [
      {
        action_type: "render_ui",
        priority: "high",
        risk_tier: "safe",
        deadline_ms: 5000,
        payload: { component: "DataChart", data: [] },
      },
      {
        action_type: "simulate_action",
        priority: "critical",
        risk_tier: "dangerous",
        requires_user_approval: true,
        payload: { macro: "cmd+c", target: "cell_B2" },
      },
    ],
  },
};
const directives = publishedResponse.response.action_directives as ActionDirective[];
const { auth, context } = published.request;

/** The engine behind a real server, the shell on a real connection, and what either saw. */
const exchange = async (
  engineOptions: Partial<ShellEngineOptions>,
  shellOptions: Partial<ShellClientOptions>,
) => {
  const token = "a-token-of-this-test";
  const sent: unknown[] = [];
  const calls: ShellCall[] = [];
  const intent = (call: ShellCall) => {
    calls.push(call);
    return directives;
  };
  const engine = createShellEngine({
    handlers: { intent, continuation: intent },
    capabilities: { "openharness.ui.approval": false },
    ...engineOptions,
  });
  const handle: typeof engine.handle = (message, given) => {
    sent.push(message);
    return engine.handle(message, given);
  };
  const server = createHttpServer({ routes: { "/openharness": { ...engine, handle } }, token });
  await server.listen();
  const way = createHttpExchange({ url: `${server.url}/openharness`, credentials: { bearer: token } });
  onTestFinished(async () => {
    way.close();
    await server.close();
    await engine.close();
  });
  const done: string[] = [];
  const executors = {
    render_message: ({ payload }: ActionDirective) => void done.push(`says ${payload?.message}`),
    render_ui: ({ payload }: ActionDirective) => void done.push(`shows ${payload?.component}`),
    simulate_action: ({ payload }: ActionDirective) => void done.push(`presses ${payload?.macro}`),
  };
  const shell = createShellClient({
    engine: way,
    executors,
    auth,
    shell: context.shell,
    session: { sessionId: context.session_id, conversationId: context.conversation_id },
    environment: { keys: { os: "raw", active_window: "raw", screen_hash: "raw" } },
    createId: () => published.request_id,
    ...shellOptions,
  });
  const outcome = await shell.send({
    intent: context.user_intent,
    taskHint: context.task_hint,
    continuation: context.continuation,
    attachments: context.attachments,
    environment: context.environment_state,
    correlationId: published.correlation_id,
  });
  return { outcome, sent, calls, done };
};

const unasked =
  "says The engine wants to do something that needs your approval (simulate_action). This shell cannot ask for it: it was not done.";

describe("the exchange of section 17", () => {
  it("happens: the chart is shown, and nothing is pressed by a shell that cannot ask", async () => {
    const { outcome, sent, calls, done } = await exchange({}, {});
    expect(sent).toEqual([published]);
    expect(calls[0]).toMatchObject({
      intent: context.user_intent,
      task: context.task_hint,
      continuation: context.continuation,
      attachments: context.attachments,
    });
    expect(outcome.response).toEqual(publishedResponse);
    expect(outcome.status).toBe("success");
    expect(outcomesOf(outcome)).toEqual(["done", "refused"]);
    expect(codesOf(outcome)).toEqual([undefined, "no_approver"]);
    expect(done).toEqual(["shows DataChart", unasked]);
  });

  it("goes on to the second directive where the shell can ask, and its user says yes", async () => {
    const asked: unknown[] = [];
    const approve: ShellClientOptions["approve"] = ({ directive, why, riskTier }) => {
      asked.push([directive, why, riskTier]);
      return "approved";
    };
    const { outcome, sent, done } = await exchange({}, { approve });
    expect(sent).toEqual([
      { ...published, capabilities: { ...published.capabilities, "openharness.ui.approval": true } },
    ]);
    expect(asked).toEqual([[directives[1], "directive", "dangerous"]]);
    expect(outcomesOf(outcome)).toEqual(["done", "done"]);
    expect(done).toEqual(["shows DataChart", "presses cmd+c"]);
  });
});
