import { describe, expect, it } from "vitest";
import { ActionKeys } from "../src/desk/action-keys.ts";

const action = (command: string, more: { callId?: string; directory?: string } = {}) => ({
  agent: "codex",
  session: "s1",
  callId: more.callId,
  payload: {
    tool_name: "bash",
    arguments: { command, ...(more.directory !== undefined && { directory: more.directory }) },
  },
});

const modified = { arguments: { command: "./note.sh after" } };

describe.each([undefined, "c1"])("the outcome of a changed action (call %s)", (callId) => {
  const id = callId === undefined ? {} : { callId };

  it.each([
    ["as it was asked for", action("./note.sh before", { ...id, directory: "/w" })],
    ["as the policy wants it", action("./note.sh after", id)],
    ["with the change among its own arguments", action("./note.sh after", { ...id, directory: "/w" })],
  ])("finds its row %s", (_name, outcome) => {
    const keys = new ActionKeys();
    const key = keys.begin(action("./note.sh before", { ...id, directory: "/w" }), modified);
    expect(keys.end(outcome)).toEqual({ key, isKnown: true, wasDecided: true });
  });

  it("is not that of another action", () => {
    const keys = new ActionKeys();
    const key = keys.begin(action("./note.sh before", { ...id, directory: "/w" }), modified);
    expect(keys.end(action("rm -rf build", id))?.key).not.toBe(key);
  });
});

it.each([undefined, "c1"])(
  "the outcome finds its row although the call has changed the directory (call %s)",
  (callId) => {
    const keys = new ActionKeys();
    const at = (cwd: string) => ({
      ...action("cd src"),
      callId,
      payload: { tool_name: "bash", arguments: { command: "cd src", cwd } },
    });
    const key = keys.begin(at("/work"));
    expect(keys.end(at("/work/src"))).toEqual({ key, isKnown: true, wasDecided: true });
  },
);
