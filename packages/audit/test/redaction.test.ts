import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { cpuTimer } from "../../../test-kit/test-kit.ts";
import { createMemoryAuditSink, createRedactor } from "../src/index.ts";

const alphabet = (characters: string, min: number, max: number) =>
  fc.array(fc.constantFrom(...characters), { minLength: min, maxLength: max }).map((parts) => parts.join(""));
const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

interface Shaped {
  readonly secret: string;
  readonly text: string;
}

/** Texts in which a secret stands between two others. */
const between = (
  before: readonly string[],
  secret: fc.Arbitrary<string>,
  behind: readonly string[] = [""],
): fc.Arbitrary<Shaped> =>
  fc
    .tuple(fc.constantFrom(...before), secret, fc.constantFrom(...behind))
    .map(([start, value, end]) => ({ secret: value, text: `${start}${value}${end}` }));

const keyKinds = ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""];
const names = ["password", "AccountKey", "API_KEY", "client_secret", "access-token", "Secret"];
const signs = ["=", ": ", " = ", '":"', "%3D"];

const shaped = fc.oneof(
  between(["Bearer "], alphabet(word, 16, 60)),
  between(["Authorization: Basic "], alphabet(word, 8, 60)),
  between(["sk-"], alphabet(word, 20, 60)),
  between(["sk-ant-api03-"], alphabet(word, 20, 90)),
  between(["sk_live_"], alphabet(word, 24, 40)),
  between(["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"], alphabet(word, 36, 36)),
  between(["github_pat_"], alphabet(word, 40, 60)),
  between(["glpat-"], alphabet(word, 20, 20)),
  between(["xoxb-"], alphabet(word, 20, 40)),
  between(["AIza"], alphabet(word, 35, 35)),
  between(["AKIA", "ASIA"], alphabet(upper, 16, 16)),
  between(["eyJhbGciOiJIUzI1NiJ9.eyJ", `eyJ${"aB3".repeat(4)}.eyJ`], alphabet(word, 20, 200), [
    `.${"xY9".repeat(14)}z`,
  ]),
  fc
    .constantFrom(...keyKinds.map((kind) => `${kind}PRIVATE KEY-----`))
    .chain((key) => between([`-----BEGIN ${key}\n`], alphabet(word, 40, 300), [`\n-----END ${key}`])),
  between(["postgres://ada:", "https://Me:"], alphabet(`${word}!$*-._~`, 8, 30), ["@db.example/x"]),
  between(
    names.flatMap((name) => signs.map((sign) => name + sign)),
    alphabet(word, 10, 40),
  ),
  between(["Cookie: theme=dark; sid="], alphabet(word, 10, 40)),
);

const around = fc.constantFrom("", " ", "see ", "(", '"', "=", "\n", "é ");

const recordedText = (details: Record<string, string>, more: Record<string, string> = {}): string => {
  const sink = createMemoryAuditSink();
  sink.record({ action: "tool.call", ...more, details });
  return JSON.stringify(sink.entries());
};

describe("shapes of secrets", () => {
  it.each([
    ["PWD=/home/ada/shop\nOLDPWD=/home/ada", "PWD=/home/ada/shop\nOLDPWD=/home/ada"],
    ["MYSQL_PWD=/hunter2", "MYSQL_PWD=[redacted]"],
    ["pwd=/hunter2 PWD=hunter2", "pwd=[redacted] PWD=[redacted]"],
  ])("leaves the directories of an environment: %j", (text, shown) => {
    expect(createRedactor().text(text)).toBe(shown);
  });

  it("never reach the log, wherever they stand", async () => {
    fc.assert(
      fc.property(shaped, around, around, fc.nat(600), ({ secret, text }, before, after, length) => {
        const whole = `${".".repeat(length)}${before}${text}${after}`;
        for (const recorded of [
          recordedText({ note: whole }),
          recordedText({ [whole]: "value" }),
          recordedText({}, { call_id: whole, tool_id: whole, correlation_id: whole }),
        ]) {
          expect(recorded).not.toContain(secret);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("leave the text around them, and mark the entry", () => {
    const sink = createMemoryAuditSink();
    sink.record({
      action: "net.fetch",
      details: { url: "https://me:hunter22@example.org/a?token=abcdef&x=1", note: "Bearer abcdefghi failed" },
    });
    expect(sink.entries()[0]).toMatchObject({
      details: {
        url: "https://[redacted]@example.org/a?token=[redacted]&x=1",
        note: "Bearer [redacted] failed",
      },
      marks: ["redacted"],
    });
  });

  it("leave ordinary ids and words alone", () => {
    const sink = createMemoryAuditSink();
    const entry = {
      action: "tool.result",
      agent_id: "task-force-of-the-disk-manager",
      tool_id: "agent-files/read",
      call_id: "01J9Z3NDEKTSV4RRFFQ69G5FAV",
      request_id: "3f0b9d3e-6d7c-4a6c-9a3e-000000000001",
      details: { reason: "the agent did not answer in time", input_tokens: 12, host: "http://[::1]:8080/x" },
    };
    sink.record(entry);
    const [recorded] = sink.entries();
    expect(recorded).toMatchObject(entry);
    expect(recorded).not.toHaveProperty("marks");
  });

  it("cost no more than the length of a hostile text", () => {
    const redactor = createRedactor();
    const spentMs = cpuTimer();
    for (const part of ["eyJ", "sk-", "://", "Bearer ", "password:", "-----BEGIN ", "SG.", '="', "_eyJ_"]) {
      const text = part.repeat(40_000);
      expect(redactor.text(text).length).toBeLessThanOrEqual(text.length * 2);
    }
    expect(spentMs()).toBeLessThan(5000);
  });
});

describe("values under secret keys", () => {
  it.each([
    "password",
    "DB_PASSWORD",
    "userPassword",
    "token",
    "access_token",
    "accessToken",
    "Authorization",
    "cookie",
    "Set-Cookie",
    "api_key",
    "apiKey",
    "X-API-Key",
    "client_secret",
    "credentials",
    "privateKey",
    "aws_secret_access_key",
    "AccountKey",
    "passphrase",
    "otp",
  ])("are taken out: %s", (key) => {
    const sink = createMemoryAuditSink();
    sink.record({ action: "a.b", details: { [key]: "plain words" } });
    sink.record({ action: "a.b", details: { [key]: 123456 } });
    for (const entry of sink.entries()) {
      expect(entry.details).toEqual({ [key]: "[redacted]" });
      expect(entry.marks).toEqual(["redacted"]);
    }
  });

  it.each(["input_tokens", "max_tokens", "token_count", "key", "keyboard", "author", "monkey_id", "pinned"])(
    "are kept where the key only looks so: %s",
    (key) => {
      const sink = createMemoryAuditSink();
      sink.record({ action: "a.b", details: { [key]: 5 } });
      expect(sink.entries()[0]?.details).toEqual({ [key]: 5 });
    },
  );

  it("are taken out with all that is nested in them", () => {
    const sink = createMemoryAuditSink();
    const details = { credentials: { user: "me", word: "swordfish" }, has_token: true };
    sink.record({ action: "a.b", details: details as never });
    expect(sink.entries()[0]?.details).toEqual({ credentials: "[redacted]", has_token: true });
  });
});

describe("registered secrets", () => {
  it("leave the words of an entry that are ours", async () => {
    const sink = createMemoryAuditSink();
    for (const secret of ["open", "tool"]) sink.addSecret(secret);
    sink.record({ action: "audit.opened", outcome: "ok", tool_id: "a/tool" });
    expect(sink.entries()).toMatchObject([
      { action: "audit.opened", outcome: "ok", tool_id: "a/[redacted]" },
    ]);
  });

  const secretText = fc
    .string({ minLength: 4, maxLength: 60, unit: "grapheme" })
    .filter((text) => text.length <= 200);

  it("never reach the log, in any spelling and at any place", () => {
    fc.assert(
      fc.property(
        fc.array(secretText, { minLength: 1, maxLength: 20 }),
        fc.nat(),
        fc.string({ maxLength: 40 }),
        fc.string({ maxLength: 40 }),
        fc.integer({ min: 0, max: 3 }),
        (secrets, pick, before, after, spelling) => {
          const secret = secrets[pick % secrets.length] ?? "";
          fc.pre(!"[redacted]".includes(secret) && !"tool.call".includes(secret));
          const spelled = [
            secret,
            encodeURIComponent(secret.replace(/\p{Cs}/gu, "")),
            Buffer.from(secret).toString("base64"),
            Buffer.from(secret).toString("base64url"),
          ][spelling];
          fc.pre(spelled !== undefined && spelled.length >= 4);
          const sink = createMemoryAuditSink();
          const redactor = createRedactor();
          for (const each of secrets) {
            sink.addSecret(each);
            redactor.addSecret(each);
          }
          fc.pre(spelling !== 1 || encodeURIComponent(secret.replace(/\p{Cs}/gu, "")) === spelled);
          const text = `${before}${spelled}${after}`;
          sink.record({ action: "tool.call", call_id: text, details: { note: text } });
          const [entry] = sink.entries();
          // What is left of the text, without what stands in the place of secrets.
          for (const value of [entry?.call_id ?? "", String(entry?.details?.note)]) {
            for (const part of value.split("[redacted]")) expect(part).not.toContain(spelled);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("are not cut in two by the limit of a text", () => {
    const secret = `S${"x9".repeat(3000)}E`;
    const sink = createMemoryAuditSink({ limits: { maxStringLength: 100 } });
    expect(sink.addSecret(secret)).toBe(true);
    for (let offset = 0; offset < 120; offset += 7) {
      sink.record({
        action: "a.b",
        details: { note: `${".".repeat(offset)}${secret}${"tail ".repeat(5000)}` },
      });
    }
    for (const { details } of sink.entries()) expect(details?.note).not.toContain("Sx9");
  });

  it("hold for what was seen before, and are forgotten on request", () => {
    const sink = createMemoryAuditSink();
    const value = "agent-files/abcdefghijklmnop";
    sink.record({ action: "a.b", tool_id: value });
    sink.addSecret(value);
    sink.record({ action: "a.b", tool_id: value });
    sink.removeSecret(value);
    sink.record({ action: "a.b", tool_id: value });
    expect(sink.entries().map(({ tool_id }) => tool_id)).toEqual([value, "[redacted]", value]);
  });

  it("that overlap go as a whole", () => {
    const redactor = createRedactor();
    for (const secret of ["abcdefgh", "efghijkl", "abcd"]) redactor.addSecret(secret);
    expect(redactor.text("<abcdefghijkl>")).toBe("<[redacted]>");
    expect(redactor.text("<abcdXefghijkl>")).toBe("<[redacted]X[redacted]>");
  });

  it("are refused where they cannot be told from other text", () => {
    const redactor = createRedactor();
    expect(redactor.addSecret("abc")).toBe(false);
    expect(redactor.addSecret("x".repeat(16_385))).toBe(false);
    expect(redactor.addSecret(undefined as never)).toBe(false);
    for (let index = 0; index < 1000; index++) expect(redactor.addSecret(`secret-${index}`)).toBe(true);
    expect(redactor.addSecret("one-more")).toBe(false);
  });
});
