import { join } from "node:path";
import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";
import { startShellEngine } from "./support/shell-engine.ts";

/** What `harness shell` does with directives of somebody else's engine, which nothing here has checked. */
const shellOf = async (...directives: readonly object[]) => {
  const cwd = await makeWorkspace();
  const engine = await startShellEngine(cwd, { go: () => [] }, (response) => {
    response.action_directives = directives as ActionDirective[];
  });
  const env = { XDG_STATE_HOME: join(cwd, "state") };
  return harness(["shell", "--engine", engine.url, "--token-file", engine.tokenFile, "go"], { cwd, env });
};

const message = (payload: object) => ({ action_type: "render_message", payload });

describe("what another engine sends to harness shell", () => {
  it.each([
    [{ text: "Hello." }, "Hello.\n"],
    [{ message: "Hello.", text: "Hello." }, "Hello.\n"],
    [{ text: "Hello.", format: "bbcode" }, "Hello.\n"],
    [{ html: "<b>", fallback_message: "Plain." }, "Plain.\n"],
  ])("is shown and done: %j", async (payload, stdout) => {
    expect(await shellOf(message(payload))).toMatchObject({ code: 0, stdout });
  });

  it("is shown by its fallback_message where a card cannot be", async () => {
    const card = (payload: object) => ({ action_type: "render_ui", payload });
    const { code, stdout } = await shellOf(
      card({ component: "DataChart", data: [], message: "no", fallback_message: "A chart." }),
      card({ component: 5, fallback_message: "A card." }),
      card({ component: "text", text: "Words." }),
      card({ component: "text", data: { message: "More words." } }),
      { action_type: "com.example.map", payload: { text: "In Vienna." } },
    );
    expect([code, stdout]).toEqual([0, "A chart.\n\nA card.\n\nWords.\n\nMore words.\n\nIn Vienna.\n"]);
  });

  it.each([
    ["a message without a string", [message({ html: "<b>" })], "render_message was not shown"],
    ["a card that is not known", [{ action_type: "render_ui", payload: { component: "gauge" } }], "nothing"],
    ["an action that is not known", [{ action_type: "com.example.x", payload: { a: 1 } }], "nothing"],
    [
      "a message that is lost beside others",
      [message({ text: "one" }), message({ text: 5 })],
      "render_message was not shown",
    ],
  ])("is a failure where it is %s", async (_what, directives, words) => {
    const { code, stderr } = await shellOf(...directives);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });

  it.each([
    ["whose payload does not fit", { title: "Sure?" }],
    ["whose payload does not fit, with a text", { title: 5, fallback_message: "Sure?" }],
    ["that says nowhere how it is answered", { message: "Sure?" }],
  ])("is refused where it is an approval %s", async (_what, payload) => {
    const ask = { action_type: "request_approval", payload };
    const { code, stderr } = await shellOf(message({ text: "Wait." }), ask);
    expect(code).toBe(3);
    expect(stderr).toContain("an approval could not be asked");
  });

  it("is refused where it needs an approval and is nothing that a terminal can do", async () => {
    const simulate = {
      action_type: "simulate_action",
      requires_user_approval: true,
      payload: { macro: "cmd+c" },
    };
    const chart = { action_type: "render_ui", payload: { component: "DataChart", data: [] } };
    const { code, stdout, stderr } = await shellOf(chart, simulate);
    expect([code, stdout]).toEqual([3, "(a card that cannot be shown here: DataChart)\n"]);
    expect(stderr).toContain("unknown_action_type simulate_action");
    expect(stderr).toContain("an approval could not be asked");
  });

  it.each([[[]], [[{ action_type: "noop" }]]])("can be nothing: %j", async (directives) => {
    expect(await shellOf(...directives)).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });
});
