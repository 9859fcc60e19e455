import { RiskLevelSchema } from "@harnesskit/protocol/hub";
import { displayText } from "@harnesskit/wire";
import { parseDocument } from "yaml";
import * as z from "zod";
import { NotifyError } from "./notify-error.ts";
import { QuietHoursSchema } from "./quiet-hours.ts";
import type { WebPushTarget } from "./targets/web-push.ts";
import { secretPrefix } from "./targets/webhook.ts";

/** A value, or the name of an environment variable that has it, so that no secret is in the file. */
const SecretSchema = z.union([z.string().min(1).max(2000), z.strictObject({ env: z.string().min(1) })]);
const AddressSchema = z.email().max(254);

const TargetSchema = z.discriminatedUnion("kind", [
  /** JSON, signed as Standard Webhooks says where a secret is given. */
  z.strictObject({ kind: z.literal("webhook"), url: SecretSchema, secret: SecretSchema.optional() }),
  /** `url` is the server with the topic: `https://ntfy.sh/my-topic`. */
  z.strictObject({ kind: z.literal("ntfy"), url: SecretSchema, token: SecretSchema.optional() }),
  /** `url` is an incoming webhook. */
  z.strictObject({ kind: z.literal("slack"), url: SecretSchema }),
  /** `url` is a mail server: `smtps://USER:PASSWORD@HOST`, or `smtp:` for one of this machine or with STARTTLS. */
  z.strictObject({
    kind: z.literal("email"),
    url: SecretSchema,
    from: AddressSchema,
    to: z.array(AddressSchema).min(1).max(50),
  }),
]);

const minutes = (max: number) => z.number().nonnegative().max(max);
const maxMinutes = 30 * 24 * 60;

const StepSchema = z.strictObject({
  to: z.array(z.string().min(1)).min(1).max(20),
  /** How long the question has waited by then. */
  afterMinutes: minutes(maxMinutes).default(0),
  /** Which questions; all conditions hold. @default all questions */
  when: z
    .strictObject({
      risk: z.array(RiskLevelSchema).min(1).optional(),
      agent: z.array(z.string().min(1)).min(1).optional(),
      tool: z.array(z.string().min(1)).min(1).optional(),
    })
    .optional(),
});

const NotifyConfigSchema = z.strictObject({
  version: z.literal(1),
  targets: z.record(z.string().regex(/^[\w-]{1,64}$/), TargetSchema),
  notify: z.array(StepSchema).min(1).max(50),
  /** Whether a notice has a link that answers one approval, once, and for how long. @default no such links */
  answerLinks: z.strictObject({ forMinutes: minutes(24 * 60).min(1) }).optional(),
  quiet: z.array(QuietHoursSchema).max(20).default([]),
});

type ParsedConfig = z.output<typeof NotifyConfigSchema>;
/** `web_push`: a browser's push service, which a configuration of a file cannot name: see `webPushConfig`. */
export type NotifyTarget = ParsedConfig["targets"][string] | WebPushTarget;
/** A configuration whose secrets were read. */
export type NotifyConfig = Omit<ParsedConfig, "targets"> & {
  readonly targets: Readonly<Record<string, NotifyTarget>>;
};
export type NotifyStep = NotifyConfig["notify"][number];

const invalid = (problem: string) =>
  new NotifyError("invalid_config", displayText(problem, { maxLength: 500 }), { isFinal: true });

const checkMailUrl = (name: string, url: string): void => {
  if (URL.canParse(url) && /^smtps?:$/.test(new URL(url).protocol)) return;
  throw invalid(`targets.${name}.url must be an smtps: or smtp: URL`);
};

const checkUrl = (name: string, url: string): void => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The requests of a platform's fetch carry no credentials of a URL.
  if (parsed !== undefined && parsed.username + parsed.password !== "")
    throw invalid(`targets.${name}.url must have no user and no password`);
  const isLocal = parsed !== undefined && ["127.0.0.1", "localhost", "[::1]"].includes(parsed.hostname);
  if (parsed?.protocol === "https:" || (parsed?.protocol === "http:" && isLocal)) return;
  throw invalid(`targets.${name}.url must be an https: URL, or an http: URL of this machine`);
};

/** A secret that is not base64 would sign with another key than its receiver has, or with an empty one. */
const checkSecret = (name: string, secret: unknown): void => {
  if (typeof secret !== "string" || !secret.startsWith(secretPrefix)) return;
  if (/^(?:[\w+/-]{4})*[\w+/-]{2,4}={0,2}$/.test(secret.slice(secretPrefix.length))) return;
  throw invalid(`targets.${name}.secret must be base64 behind ${secretPrefix}`);
};

/** Puts values of the environment in the place of their names. */
const readSecrets = (
  config: ParsedConfig,
  env: Readonly<Record<string, string | undefined>>,
): NotifyConfig => {
  const targets = Object.entries(config.targets).map(([name, target]) => {
    const fields = Object.entries(target).map(([field, value]) => {
      if (typeof value !== "object" || Array.isArray(value)) return [field, value];
      const found = env[value.env];
      if (found === undefined || found === "")
        throw invalid(`targets.${name}.${field}: the environment variable ${value.env} is not set`);
      return [field, found];
    });
    const read = Object.fromEntries(fields) as ParsedConfig["targets"][string];
    if (read.kind === "email") checkMailUrl(name, String(read.url));
    else checkUrl(name, String(read.url));
    if (read.kind === "webhook") checkSecret(name, read.secret);
    return [name, read];
  });
  return { ...config, targets: Object.fromEntries(targets) };
};

/**
 * Reads a configuration in YAML or JSON; `docs/hub.md` (Notices) describes it. Throws `invalid_config` with the place of the
 * problem, also for a target that is not there and for a variable that `env` does not have.
 *
 * @param env default `process.env`
 */
export const parseNotifyConfig = (
  text: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): NotifyConfig => {
  const document = parseDocument(text, { maxAliasCount: 0, uniqueKeys: true } as object);
  const [problem] = document.errors;
  if (problem !== undefined) throw invalid(problem.message.split("\n")[0] ?? "not YAML");
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    throw invalid("aliases are not allowed");
  }
  const parsed = NotifyConfigSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.map(String).join(".") || "the file"}: ${issue?.message ?? "not valid"}`);
  }
  const { targets, notify } = parsed.data;
  notify.forEach(({ to }, index) => {
    const missing = to.find((name) => !Object.hasOwn(targets, name));
    if (missing !== undefined) throw invalid(`notify.${index}.to: there is no target ${missing}`);
  });
  return readSecrets(parsed.data, env);
};
