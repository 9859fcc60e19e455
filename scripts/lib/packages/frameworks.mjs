import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { compile } from "../compile.mjs";
import { repositoryRoot } from "../root.mjs";

const expected = {
  engine: "You said: hello",
  otherOrigin: 403,
  isStreamed: true,
  isAllowed: true,
  isBlocked: true,
  withoutToken: 401,
};

/** What Next asks of the handlers that a route file exports. */
const routes = `
import type { NextRequest } from "next/server.js";
import { agent } from "./agent.mjs";
import { chat } from "./chat.mjs";
import { engine } from "./engine.mjs";

type Context = { params: Promise<{ path?: string[] }> };
export const routes: ((request: NextRequest, context: Context) => Response | Promise<Response>)[] = [agent, chat, engine];
`;
const strict = {
  ...{ target: "ES2023", module: "NodeNext", lib: ["ES2023", "DOM", "DOM.Iterable"], types: ["node"] },
  ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ skipLibCheck: true, moduleDetection: "force" },
  typeRoots: [join(repositoryRoot, "node_modules/@types")],
};

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const firstLines = (text) => text.trim().split("\n").slice(0, 20).join("\n  ");

/** The programs as a reader pastes them into strict TypeScript, in `dir`. */
async function typeProblems(dir, { page, programs }) {
  for (const { name, code } of programs) write(join(dir, name.replace(/\.m?js$/, ".mts")), code);
  write(join(dir, "routes.mts"), routes);
  write(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: strict, include: ["**/*.mts"] }));
  const { code, output } = await compile(dir);
  return code === 0 ? [] : [`${page}: not strict TypeScript: ${firstLines(output)}`];
}

async function freePort() {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What the routes of a server answer; it does not have to listen yet. */
async function ask(url, token, isOver) {
  const authorization = `Bearer ${token}`;
  const json = { authorization, "content-type": "application/json" };
  const post = (path, headers, body) => fetch(`${url}${path}`, { method: "POST", headers, body });
  const intent = JSON.stringify({
    protocol_version: "1.0.0",
    capabilities: {},
    request: { context: { user_intent: "hello" } },
  });
  while (!(await fetch(url).catch(() => undefined))) {
    if (isOver()) throw new Error("it has ended");
    await sleep(100);
  }
  const engine = await post("/openharness", json, intent);
  const other = await post("/openharness", { ...json, origin: "https://evil.example" }, intent);
  const parts = [{ type: "text", text: "list files" }];
  const said = { id: "c1", messages: [{ id: "m1", role: "user", parts }] };
  const chat = await post("/api/chat", json, JSON.stringify(said));
  const command = (words) => post("/agent", { authorization }, `run the command: ${words}`);
  return {
    engine: (await engine.json()).response?.action_directives[0].payload.message,
    otherOrigin: other.status,
    isStreamed: (await chat.text()).includes('"type":"text-delta"'),
    isAllowed: (await (await command("echo allowed")).text()).includes("allowed"),
    isBlocked: (await (await command("rm other")).text()).includes("it removes files"),
    withoutToken: (await post("/agent", {}, "run the command: echo allowed")).status,
  };
}

async function serverProblems(cwd, environment, page) {
  const port = await freePort();
  const env = { ...process.env, ...environment, PORT: String(port) };
  const server = spawn(process.execPath, ["hono.mjs"], { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(server, "exit");
  try {
    const found = await ask(
      `http://localhost:${port}`,
      environment.APP_TOKEN,
      () => server.exitCode !== null,
    );
    return isDeepStrictEqual(found, expected) ? [] : [`${page}: hono: ${JSON.stringify(found)}`];
  } catch (error) {
    return [`${page}: hono: ${error.message}`];
  } finally {
    server.kill("SIGKILL");
    await exited;
  }
}

/** Runs the guide's server for Hono, and compiles its programs for all frameworks as strict TypeScript. Returns findings. */
export async function frameworkProblems(cwd, environment, { page, programs }) {
  for (const { name, code } of programs) write(join(cwd, name), code);
  const types = await typeProblems(join(cwd, "pasted"), { page, programs });
  return [...types, ...(await serverProblems(cwd, environment, page))];
}
