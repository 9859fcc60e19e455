// @ts-check
import { createHash } from "node:crypto";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineAgent, ToolError, tool } from "@harnesskit/agent-sdk";
import * as z from "zod";

const guest = z.object({
  name: z
    .string()
    .min(1)
    .max(100)
    .regex(/^\P{Cc}+$/u),
});
const lineOf = (/** @type {string} */ name) => `- ${name}\n`;
const digestOf = (/** @type {string} */ text) => createHash("sha256").update(text).digest("hex");

/** The guest book of the project that a call is about; "" where it has none. */
const openBook = async (/** @type {string | undefined} */ projectRoot) => {
  if (projectRoot === undefined) return { path: undefined, text: "" };
  const path = join(projectRoot, "GUESTS.md");
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return "";
    throw new ToolError("hello.unreadable", "GUESTS.md cannot be read.");
  });
  return { path, text };
};

/** Reads. It changes nothing and needs only `fs.read`, so every core allows it. */
const greet = tool({
  name: "greet",
  description: "Greets a person",
  input: guest,
  effects: "read",
  permissions: ["fs.read"],
  async run({ name }, { projectRoot }) {
    const { text } = await openBook(projectRoot);
    return { greeting: text.includes(lineOf(name)) ? `Welcome back, ${name}!` : `Hello, ${name}!` };
  },
});

/** Writes, so the operator must grant `fs.write` and `side_effects`. With `expected` it does what was shown, or nothing. */
const sign = tool({
  name: "sign",
  description: "Adds a person to GUESTS.md, the guest book of the project",
  input: guest.extend({ expected: z.string().optional() }),
  effects: "write",
  permissions: ["fs.write"],
  async run({ name, expected }, { projectRoot }) {
    const { path, text } = await openBook(projectRoot);
    if (path === undefined) throw new ToolError("hello.no_project", "The call names no project.");
    if (expected !== undefined && expected !== digestOf(text))
      throw new ToolError("hello.changed", "GUESTS.md has changed since the call was shown.");
    await appendFile(path, lineOf(name));
    return { guests: text.split("\n").length };
  },
});

/** Prepares calls of the other tools: the input that will run, what a human is shown, and what it is bound to. */
const prepare = tool({
  name: "prepare",
  description: "Shows what a call would do",
  input: z.object({ tool: z.enum([greet.name, sign.name]), input: z.unknown() }),
  effects: "read",
  permissions: ["fs.read"],
  async run(call, { projectRoot }) {
    const { data: input, error } = guest.safeParse(call.input);
    if (error) throw new ToolError("tool.invalid_input", z.prettifyError(error));
    if (call.tool === greet.name) return { input };
    const { text } = await openBook(projectRoot);
    return { input, preview: `GUESTS.md\n+${lineOf(input.name)}`, expected: digestOf(text) };
  },
});

await defineAgent({ id: "com.example.hello", version: "1.0.0", tools: [greet, sign, prepare] }).run();
