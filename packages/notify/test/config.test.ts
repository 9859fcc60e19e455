import type { RiskLevel } from "@harnesskit/approvals";
import { expect, test } from "vitest";
import { parseNotifyConfig } from "../src/index.ts";
import { createLoudFrom, QuietHoursSchema } from "../src/quiet-hours.ts";

const target = '{ kind: webhook, url: "https://example.org/x" }';
const withTarget = (text: string) => `version: 1\ntargets: { team: ${text} }\nnotify: [{ to: [team] }]`;

test.each([
  ["no YAML", "a: [", /./],
  [
    "two keys of one name",
    `version: 1\nversion: 1\ntargets: { team: ${target} }\nnotify: [{ to: [team] }]`,
    /unique/,
  ],
  ["an unknown version", `version: 2\ntargets: { team: ${target} }\nnotify: [{ to: [team] }]`, /^version/],
  ["an unknown field", `${withTarget(target)}\nextra: 1`, /extra/],
  ["an unknown kind", withTarget("{ kind: pager, url: x }"), /targets\.team\.kind/],
  [
    "a target that is not there",
    `version: 1\ntargets: { team: ${target} }\nnotify: [{ to: [boss] }]`,
    /boss/,
  ],
  [
    "plain HTTP to elsewhere",
    withTarget('{ kind: slack, url: "http://example.org/" }'),
    /targets\.team\.url/,
  ],
  ["another scheme", withTarget('{ kind: slack, url: "file:///etc/passwd" }'), /targets\.team\.url/],
  [
    "a URL with a password",
    withTarget('{ kind: ntfy, url: "https://ada:word@example.org/topic" }'),
    /^targets\.team\.url must have no user and no password$/,
  ],
  [
    "a secret without a key",
    withTarget('{ kind: webhook, url: "https://example.org/x", secret: whsec_ }'),
    /^targets\.team\.secret must be base64/,
  ],
  [
    "a secret that is not base64",
    withTarget('{ kind: webhook, url: "https://example.org/x", secret: "whsec_my secret!" }'),
    /^targets\.team\.secret must be base64 behind whsec_$/,
  ],
  ["a variable that is not set", withTarget("{ kind: slack, url: { env: NO_SUCH } }"), /NO_SUCH is not set/],
  [
    "an address that injects",
    withTarget('{ kind: email, url: "smtps://mail.example.org", from: "a@b.c\\nBcc: d@e.f", to: [a@b.cd] }'),
    /from/,
  ],
  [
    "a zone that is not there",
    `${withTarget(target)}\nquiet: [{ from: "1:00", to: "02:00" }]`,
    /quiet\.0\.from/,
  ],
  ["aliases", "version: 1\na: &x [1]\nb: *x", /alias/i],
])("%s is refused with its place", (_name, text, message) => {
  expect(() => parseNotifyConfig(text, {})).toThrow(
    expect.objectContaining({
      name: "NotifyError",
      code: "invalid_config",
      message: expect.stringMatching(message),
    }),
  );
});

const at = (time: string) => Date.parse(time);
const until = (rule: object, time: string, risk: RiskLevel = "low") =>
  new Date(createLoudFrom([QuietHoursSchema.parse(rule)])(risk, at(time))).toISOString();

test.each([
  ["by day", { from: "12:00", to: "13:00" }, "2026-03-02T12:30:10Z", "2026-03-02T13:00:00.000Z"],
  ["outside", { from: "12:00", to: "13:00" }, "2026-03-02T13:00:00Z", "2026-03-02T13:00:00.000Z"],
  ["over midnight", { from: "22:00", to: "07:00" }, "2026-03-02T23:00:00Z", "2026-03-03T07:00:00.000Z"],
  ["after midnight", { from: "22:00", to: "07:00" }, "2026-03-02T06:59:59Z", "2026-03-02T07:00:00.000Z"],
  [
    "at another place, over the change to summer time",
    { from: "22:00", to: "07:00", zone: "Europe/Berlin" },
    ...["2026-03-28T22:00:00Z", "2026-03-29T05:00:00.000Z"],
  ],
  [
    "on the days when it begins",
    { from: "22:00", to: "07:00", days: ["fri"] },
    ...["2026-03-07T03:00:00Z", "2026-03-07T07:00:00.000Z"],
  ],
  [
    "for whole days",
    { from: "00:00", to: "00:00", days: ["sat", "sun"] },
    ...["2026-03-07T12:00:00Z", "2026-03-09T00:00:00.000Z"],
  ],
  [
    "not on other days",
    { from: "22:00", to: "07:00", days: ["fri"] },
    ...["2026-03-06T03:00:00Z", "2026-03-06T03:00:00.000Z"],
  ],
] as const)("quiet hours %s", (_name, rule, time, end) => {
  expect(until(rule, time as string)).toBe(end);
});

test("quiet hours except for risks, and for ever is a week", () => {
  const rule = { from: "22:00", to: "07:00", except: ["high"] };
  expect(until(rule, "2026-03-02T23:00:00Z", "high")).toBe("2026-03-02T23:00:00.000Z");
  const always = [
    QuietHoursSchema.parse({ from: "00:00", to: "12:00" }),
    QuietHoursSchema.parse({ from: "12:00", to: "00:00" }),
  ];
  const from = at("2026-03-02T23:00:00Z");
  expect(createLoudFrom(always)("low", from) - from).toBeGreaterThan(7 * 86_400_000 - 1);
});

test("many questions of one night cost one search, and each period is its own", () => {
  const loudFrom = createLoudFrom([QuietHoursSchema.parse({ from: "22:00", to: "07:00" })]);
  const night = at("2026-03-02T22:00:00Z");
  for (let second = 0; second < 30_000; second++) {
    expect(loudFrom("low", night + second * 1000)).toBe(at("2026-03-03T07:00:00Z"));
  }
  expect(loudFrom("low", at("2026-03-03T12:00:00Z"))).toBe(at("2026-03-03T12:00:00Z"));
  expect(loudFrom("critical", night)).toBe(night);
  expect(loudFrom("low", at("2026-03-04T03:00:00Z"))).toBe(at("2026-03-04T07:00:00Z"));
});
