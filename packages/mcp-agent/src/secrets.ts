import type { JsonValue } from "@harnesskit/protocol/envelope";
import { isObject } from "@harnesskit/wire/json";
import { McpError } from "./errors.ts";
import { type McpServer, variablesOf } from "./mcp-server.ts";

/** A shorter value is found in too many texts. */
const minSecretLength = 4;

/** The values of the variables that a server needs, and a string or a result without them. */
export interface Secrets {
  readonly values: Readonly<Record<string, string>>;
  redact(text: string): string;
  redactJson<Value extends JsonValue>(value: Value): Value;
}

const redactStrings = (value: JsonValue, redact: (text: string) => string): JsonValue => {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((entry) => redactStrings(entry, redact));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [redact(key), redactStrings(entry, redact)]),
  );
};

/** Reads what a server needs. Throws `mcp.environment_missing` with the names that are not set. */
export const readSecrets = (
  server: McpServer,
  env: Readonly<Record<string, string | undefined>>,
): Secrets => {
  const names = variablesOf(server);
  const missing = names.filter((name) => !env[name]);
  if (missing.length > 0) {
    throw new McpError(
      "mcp.environment_missing",
      `the MCP server needs the environment variables ${missing.join(", ")}`,
    );
  }
  const values = Object.fromEntries(names.map((name) => [name, env[name] ?? ""]));
  // The longest first: one may be the beginning of another.
  const secrets = Object.values(values)
    .flatMap((value) => [value, value.replace(/^\S+ +/, "")])
    .filter((value) => value.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  const redact = (text: string) =>
    secrets.reduce((kept, secret) => kept.replaceAll(secret, "[redacted]"), text);
  return {
    values,
    redact,
    redactJson: (value) => (secrets.length === 0 ? value : (redactStrings(value, redact) as typeof value)),
  };
};
