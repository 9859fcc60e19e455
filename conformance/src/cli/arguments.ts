import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { ConformanceError, messageOf } from "../errors.ts";
import { conformanceLimits } from "../limits.ts";
import type { RunLevel } from "../run/run-suite.ts";
import { TransportSchema } from "../scenario/step-schema.ts";
import type { Credentials, StartModule, TargetSpec } from "../target/target-spec.ts";

const options = {
  stdio: { type: "string" },
  start: { type: "string" },
  on: { type: "string" },
  unix: { type: "string" },
  tcp: { type: "string" },
  http: { type: "string" },
  ws: { type: "string" },
  module: { type: "string" },
  "token-file": { type: "string" },
  "api-key-file": { type: "string" },
  "no-credential": { type: "boolean" },
  only: { type: "string", multiple: true },
  level: { type: "string" },
  list: { type: "boolean" },
  seed: { type: "string" },
  set: { type: "string", multiple: true },
  within: { type: "string" },
  expected: { type: "string" },
  json: { type: "boolean" },
  junit: { type: "string" },
  html: { type: "string" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** The command line, read but not judged. */
export type Values = ReturnType<typeof read>["values"];

const read = (args: readonly string[]) =>
  parseArgs({ args: [...args], options, allowPositionals: true, strict: true });

const usage = (message: string): ConformanceError => new ConformanceError("usage", message);

/** @throws {ConformanceError} `usage` for an option that is not known */
export const readArguments = (args: readonly string[]): { suite: string | undefined; values: Values } => {
  try {
    const { values, positionals } = read(args);
    if (positionals.length > 1) throw usage(`there is one suite for each run, got ${positionals.length}`);
    return { suite: positionals[0], values };
  } catch (error) {
    throw ConformanceError.isInstance(error) ? error : usage(messageOf(error));
  }
};

const secretIn = (file: string): string => {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new ConformanceError("usage", `cannot read ${file}: ${messageOf(cause)}`, { cause });
  }
};

const credentialsOf = (values: Values): Credentials => ({
  ...(values["token-file"] === undefined ? {} : { bearer: secretIn(values["token-file"]) }),
  ...(values["api-key-file"] === undefined ? {} : { apiKey: secretIn(values["api-key-file"]) }),
});

const urlOf = (text: string, scheme: "http" | "ws"): string => {
  if (URL.canParse(text) && new URL(text).protocol.startsWith(scheme)) return text;
  throw usage(`--${scheme} must be a URL that begins with ${scheme}:, got ${JSON.stringify(text)}`);
};

const startIn = async (file: string): Promise<StartModule> => {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown };
    if (typeof module.default === "function") return module.default as StartModule;
  } catch (cause) {
    throw new ConformanceError("unavailable", `cannot load ${file}: ${messageOf(cause)}`, { cause });
  }
  throw usage(`${file} has no default export that is a function`);
};

/**
 * The target that the options name.
 * @throws {ConformanceError} `usage` for none, several, or one that cannot be; `unavailable` for a module that cannot be loaded
 */
export const targetOf = async (values: Values): Promise<TargetSpec> => {
  const ways = (["stdio", "start", "unix", "tcp", "http", "ws", "module"] as const).filter(
    (way) => values[way] !== undefined,
  );
  const [way] = ways;
  if (way === undefined || ways.length > 1)
    throw usage(
      "name one target: --stdio CMD, --start CMD --on TRANSPORT, --unix, --tcp, --http, --ws or --module",
    );
  const value = values[way] ?? "";
  const isOpen = values["no-credential"] === true;
  if (isOpen && way !== "start" && way !== "module")
    throw usage("--no-credential belongs to --start and --module");
  if (way === "stdio") return { kind: "command", command: value, transport: "stdio" };
  if (way === "start" || way === "module") {
    const transport = TransportSchema.safeParse(values.on ?? (way === "start" ? "stdio" : "unix"));
    if (!transport.success)
      throw usage(`--on must be one of ${TransportSchema.options.join(", ")}, got ${values.on}`);
    if (way === "start") return { kind: "command", command: value, transport: transport.data, isOpen };
    if (transport.data === "stdio") throw usage("--module has no stdio: give the program with --stdio");
    return { kind: "module", start: await startIn(value), name: value, transport: transport.data, isOpen };
  }
  const address = way === "http" || way === "ws" ? urlOf(value, way) : value;
  return { kind: "address", transport: way, address, credentials: credentialsOf(values) };
};

const wholeNumber = (name: string, text: string): number => {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw usage(`--${name} must be a whole number, got ${JSON.stringify(text)}`);
};

/** How long a step waits, and what a target has to start: five times as long, at most the default, and never less than a step. */
const waitsOf = (text: string) => {
  const withinMs = wholeNumber("within", text);
  const { startTimeoutMs } = conformanceLimits.resolve(undefined);
  return { withinMs, startTimeoutMs: Math.max(withinMs, Math.min(startTimeoutMs, 5 * withinMs)) };
};

const runLevels = ["core", "must", "safety"] as const;

const levelOf = (text: string): RunLevel => {
  const level = runLevels.find((each) => each === text);
  if (level !== undefined) return level;
  throw usage(`--level must be one of ${runLevels.join(", ")}, got ${JSON.stringify(text)}`);
};

/** The other options of a run. */
export const runOptionsOf = (values: Values) => ({
  ...(values.only === undefined
    ? {}
    : { only: values.only.flatMap((ids) => ids.split(",")).filter(Boolean) }),
  ...(values.level === undefined ? {} : { level: levelOf(values.level) }),
  ...(values.seed === undefined ? {} : { seed: wholeNumber("seed", values.seed) }),
  ...(values.within === undefined ? {} : { limits: waitsOf(values.within) }),
  values: Object.fromEntries(
    (values.set ?? []).map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw usage(`--set takes NAME=VALUE, got ${JSON.stringify(text)}`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  ),
});
