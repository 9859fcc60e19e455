import { createHmac } from "node:crypto";
import type { PrivacyTier } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import { type EnvironmentPolicy, filterEnvironment, hashValue } from "../src/environment.ts";
import { diagnosed, rejection, respond, scripted } from "./support.ts";

const isHash = (value: unknown) => /^hmac-sha256:[0-9a-f]{64}$/.test(String(value));

describe("an environment_state", () => {
  it("leaves with its tier, by the rule of each key, and what stayed is named without its values", async () => {
    const environment: EnvironmentPolicy = {
      tiers: { os: "public", city: "restricted", passwords: "secret", pin: "secret" },
      keys: { pin: "hash", locale: "raw", city: "omit" },
      hashKey: "ours",
    };
    const { shell, sent, diagnostics } = scripted((request) => respond(request), { environment });
    await shell.send({
      environment: {
        os: "macOS",
        city: "Ulm",
        passwords: "hunter2",
        pin: 1234,
        locale: "de",
        clipboard: "IBAN",
      },
    });
    expect(sent[0]?.request.context?.environment_state).toEqual({
      privacy_tier: "secret",
      os: "macOS",
      pin: await hashValue(1234, "ours"),
      locale: "de",
    });
    expect(diagnosed(diagnostics)).toEqual(["environment_withheld"]);
    expect(diagnostics[0]?.details).toEqual({ keys: ["city", "passwords", "clipboard"] });
    expect(JSON.stringify([sent, diagnostics])).not.toMatch(/hunter2|IBAN|Ulm|:1234\b/);
    await shell.send({ environment: { os: "macOS" } });
    expect(sent[1]?.request.context?.environment_state).toEqual({ privacy_tier: "public", os: "macOS" });
  });

  it("stays here where nothing says that it may leave", async () => {
    const { shell, sent, diagnostics } = scripted((request) => respond(request));
    await shell.send({ environment: { os: "macOS", privacy_tier: "public" } });
    expect(sent[0]?.request.context).not.toHaveProperty("environment_state");
    expect(diagnosed(diagnostics)).toEqual(["environment_withheld"]);
  });

  it("has titles of windows and contents of screens leave raw only where their key says so", async () => {
    const names = ["active_window", "windowTitle", "tab_title", "screen", "screen_text", "SCREENSHOT"];
    const given = Object.fromEntries(names.map((name) => [name, "Payslip"]));
    const tiers = Object.fromEntries(names.map((name) => [name, "public" as const]));
    const { state = {} } = await filterEnvironment(given, { tiers });
    expect(names.filter((name) => !isHash(state[name]))).toEqual([]);
    const policy = { tiers, keys: { active_window: "raw" } } as const;
    expect((await filterEnvironment(given, policy)).state?.active_window).toBe("Payslip");
  });

  it("follows the rules of tiers: raw, hash and omit", async () => {
    const tiers = { a: "public", b: "restricted", c: "secret" } as const;
    const given = { a: 1, b: 2, c: 3 };
    const byDefault = await filterEnvironment(given, { tiers });
    expect([byDefault.state?.a, isHash(byDefault.state?.b), byDefault.withheld]).toEqual([1, true, ["c"]]);
  });

  it("can be said to be more sensitive, and not less: a key's rule then lets no more leave than the tier's", async () => {
    const policy = { tiers: { os: "public", mail: "restricted" }, keys: { mail: "raw" } } as const;
    const state = { os: "x", mail: "y" };
    const by = (privacy_tier: PrivacyTier) => filterEnvironment({ ...state, privacy_tier }, policy);
    expect((await by("public")).state).toEqual({ ...state, privacy_tier: "restricted" });
    const { state: raised } = await by("restricted");
    expect([isHash(raised?.os), raised?.mail, raised?.privacy_tier]).toEqual([true, "y", "restricted"]);
    expect(await by("secret")).toEqual({ state: undefined, withheld: ["os", "mail"] });
  });

  it("has nothing leave by a tier or a rule that is none", async () => {
    for (const policy of [{ tiers: { os: "Secret" } }, { keys: { os: "plain" } }]) {
      expect((await filterEnvironment({ os: "x" }, policy as never)).state).toBeUndefined();
    }
  });
});

describe("hashValue", () => {
  it("is the HMAC of the canonical JSON: the same for the same JSON, and another one with another key", async () => {
    expect(await hashValue({ b: 1, a: [true] }, "k")).toBe(await hashValue({ a: [true], b: 1 }, "k"));
    const expected = createHmac("sha256", "k").update('{"a":[true],"b":1}').digest("hex");
    expect(await hashValue({ a: [true], b: 1 }, "k")).toBe(`hmac-sha256:${expected}`);
    expect(await hashValue("1234", "k")).not.toBe(await hashValue("1234", "another"));
  });

  it("has a key of its own in each client, so that hashes can be compared within a session only", async () => {
    const hashes = async () => {
      const environment = { tiers: { pin: "restricted" } } as const;
      const { shell, sent } = scripted((request) => respond(request), { environment });
      await shell.send({ environment: { pin: 1234 } });
      await shell.send({ environment: { pin: 1234 } });
      return sent.map(({ request }) => request.context?.environment_state?.pin);
    };
    const [first, second] = [await hashes(), await hashes()];
    expect(first[0]).toSatisfy(isHash);
    expect([first[1], second[1]]).toEqual([first[0], second[0]]);
    expect(second[0]).not.toBe(first[0]);
  });

  it("refuses what is no JSON and an empty key, and then nothing is sent", async () => {
    expect(await rejection(hashValue((() => {}) as never, "k"))).toMatchObject({ code: "invalid_argument" });
    expect(await rejection(hashValue(1, ""))).toMatchObject({ code: "invalid_argument" });
    for (const [value, hashKey] of [
      [() => {}, "k"],
      [1, ""],
    ] as const) {
      const environment = { keys: { screen: "hash" }, hashKey } as const;
      const { shell, sent } = scripted((request) => respond(request), { environment });
      const error = await rejection(shell.send({ environment: { screen: value as never } }));
      expect(error).toMatchObject({ code: "invalid_request", path: "request.context.environment_state" });
      expect(sent).toEqual([]);
    }
  });
});
