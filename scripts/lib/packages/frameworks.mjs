import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { compile } from "../compile.mjs";
import { pagePrograms } from "../page-programs.mjs";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";
import { manifestOf } from "../workspace.mjs";

const guide = "docs/frameworks.md";
const page = readFileSync(join(repositoryRoot, guide), "utf8");
const theirs = {
  "@hono/node-server": "2.1.9",
  "@types/express": "5.0.6",
  express: "5.3.0",
  fastify: "5.12.8",
  hono: "4.13.19",
  next: "16.4.6",
  react: "19.3.1",
  "react-dom": "19.3.1",
};
const next = "node_modules/next/dist/bin/next";
const servers = {
  hono: ["hono.mjs"],
  fastify: ["fastify.mjs"],
  express: ["express.mjs"],
  next: [next, "start"],
};
const expected = {
  engine: "You said: hello",
  otherOrigin: 403,
  chat: "streamed",
  allowed: true,
  blocked: true,
  withoutToken: 401,
  afterKill: "user,assistant",
};

const reportPort = `
import { Server } from "node:net";
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once("listening", () => typeof this.address() === "object" && console.log(\`port \${this.address().port}\`));
  return listen.apply(this, args);
};
`;

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
  ...{
    target: "ES2023",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
  },
  ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ skipLibCheck: true, moduleDetection: "force", types: ["node"] },
  typeRoots: [join(repositoryRoot, "node_modules/@types")],
};

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const firstLines = (text) => text.trim().split("\n").slice(0, 20).join("\n  ");

/** The programs as a reader pastes them into strict TypeScript, in `dir`. */
async function typeProblems(dir, programs) {
  for (const { name, code } of programs) write(join(dir, name.replace(/\.m?js$/, ".mts")), code);
  write(join(dir, "routes.mts"), routes);
  write(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: strict, include: ["**/*.mts"] }));
  const { code, output } = await compile(dir);
  return code === 0 ? [] : [`${guide}: not strict TypeScript: ${firstLines(output)}`];
}

export const dependencies = (tarballs) => {
  const [, names = ""] = /@harnesskit\/\{([^}]+)\}/.exec(page) ?? [];
  const ours = [...names.split(","), "approvals", "policy", "timeline"].map((name) => `@harnesskit/${name}`);
  const manifest = manifestOf("packages/ahp-client");
  const all = Object.fromEntries(ours.map((name) => [name, tarballs[name]]));
  return { ...all, ...theirs, ai: manifest.devDependencies.ai, zod: manifest.dependencies.zod };
};

/**
 * Runs the guide's servers, in the four frameworks, against the packed packages in `cwd`, with a hub and its policy; kills and restarts
 * each. Compiles its programs as strict TypeScript. Returns findings.
 */
export async function check(cwd) {
  const programs = pagePrograms(page).files;
  for (const { name, code } of programs) write(join(cwd, name), code);
  write(join(cwd, "report-port.mjs"), reportPort);
  cpSync(new URL("./frameworks-asked.mjs", import.meta.url), join(cwd, "frameworks-asked.mjs"));
  const env = {
    APP_TOKEN: "a-token-of-the-check",
    NEXT_TELEMETRY_DISABLED: "1",
    XDG_STATE_HOME: join(cwd, "state"),
  };
  const built = await run(process.execPath, [next, "build"], { cwd, env, timeoutMs: 300_000 });
  if (built.code !== 0) return [`${guide}: next build ends with ${built.code}: ${built.output.trim()}`];
  const args = ["frameworks-asked.mjs", JSON.stringify(servers)];
  const { code, stdout, output } = await run(process.execPath, args, { cwd, env, timeoutMs: 120_000 });
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const found = lines.map((line) => JSON.parse(line));
  const wrong = found.filter((one) => !isDeepStrictEqual(one.found, expected));
  return [
    ...wrong.map(({ name, found }) => `${guide}: ${name}: ${JSON.stringify(found)}`),
    ...(code === 0 && found.length === Object.keys(servers).length
      ? []
      : [`${guide}: the servers end with ${code}: ${firstLines(output)}`]),
    ...(await typeProblems(join(cwd, "pasted"), programs)),
  ];
}
