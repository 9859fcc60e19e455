import { describe, expect, it } from "vitest";
import { commandJudge } from "../src/index.ts";

const { changesFiles } = commandJudge();
const workspace = "/work/app";
const files = ["/work/app/policy.yaml"];

describe("whether an action may change a file", () => {
  it.each([
    ["write", { path: "policy.yaml", content: "" }],
    ["edit", { path: "./x/../POLICY.yaml" }],
    ["edit", { path: "/work/app/policy.yaml" }],
    ["bash", { command: "echo > policy.yaml" }],
    ["bash", { command: "sed -i s/a/b/ policy.y?ml" }],
    ["bash", { command: "mv x policy.yaml", cwd: "." }],
    ["bash", { command: "cd x; cp a ../policy.yaml" }],
    ["bash", { command: "mv policy.yaml x" }],
    ["bash", { command: "rm -r ." }],
    ["bash", { command: "tar xf x.tar" }],
    ["bash", { command: "unzip a.zip" }],
    ["bash", { command: "patch -p1 < a.patch" }],
    ["bash", { command: "tee policy.yaml < a" }],
    ["bash", { command: 'echo > "$x"' }],
    ["bash", { command: `mv a /work/app/${"./".repeat(99)}policy.yaml` }],
  ])("%s %j may", (tool, args) => {
    expect(changesFiles({ tool, args, workspace }, files)).toBe(true);
  });

  it.each([
    ["read", { path: "policy.yaml" }],
    ["write", { path: "policy.yaml.md", content: "" }],
    ["write", {}],
    ["bash", { command: "cat policy.yaml > x" }],
    ["bash", { command: "npm test" }],
    ["bash", { command: 7 }],
  ])("%s %j does not", (tool, args) => {
    expect(changesFiles({ tool, args, workspace }, files)).toBe(false);
  });
});
