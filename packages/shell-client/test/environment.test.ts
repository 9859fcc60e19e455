import { verifies } from "@harnesskit/conformance/verifies";
import { EnvironmentStateSchema, type PrivacyTier } from "@harnesskit/protocol/openharness";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { filterEnvironment, hashValue } from "../src/index.ts";
import { diagnosed, rejection, respond, scripted } from "./support.ts";

const levels = { public: 0, restricted: 1, secret: 2 };
const tier = fc.constantFrom<PrivacyTier>("public", "restricted", "secret");
const key = fc.constantFrom("os", "active_window", "battery", "toString", "constructor", "screen");
const marked = (value: string) => `value-of-${value}`;

describe("an environment_state", () => {
  it("leaves with its tier, filtered and hashed, and what stayed is told without its values", async () => {
    verifies("OH-34", "OH-35");
    const environment = {
      tiers: { os: "public", active_window: "restricted", passwords: "secret", screen: "restricted" },
      hash: ["screen"],
    } as const;
    const { shell, sent, diagnostics } = scripted((request) => respond(request), { environment });
    const screen = { pixels: [1, 2, 3], text: "IBAN" };
    await shell.send({
      environment: { os: "macOS", active_window: "Excel", passwords: "hunter2", screen, clipboard: "IBAN" },
    });
    expect(sent[0]?.request.context?.environment_state).toEqual({
      privacy_tier: "restricted",
      os: "macOS",
      active_window: "Excel",
      screen: await hashValue(screen),
    });
    expect(diagnosed(diagnostics)).toEqual(["environment_withheld"]);
    expect(diagnostics[0]?.details).toEqual({ keys: ["passwords", "clipboard"] });
    expect(JSON.stringify([sent, diagnostics])).not.toMatch(/hunter2|IBAN/);
    await shell.send({ environment: { os: "macOS" } });
    expect(sent[1]?.request.context?.environment_state).toEqual({ privacy_tier: "public", os: "macOS" });
  });

  it("stays here where nothing says that it may leave", async () => {
    const { shell, sent, diagnostics } = scripted((request) => respond(request));
    await shell.send({ environment: { os: "macOS", privacy_tier: "public" } });
    expect(sent[0]?.request.context).not.toHaveProperty("environment_state");
    expect(diagnosed(diagnostics)).toEqual(["environment_withheld"]);
  });

  it("can be said to be more sensitive, and not less", async () => {
    const policy = { tiers: { os: "public", mail: "restricted" } } as const;
    const state = { os: "x", mail: "y" };
    const tierOf = async (privacy_tier: PrivacyTier) =>
      (await filterEnvironment({ ...state, privacy_tier }, policy)).state?.privacy_tier;
    expect([await tierOf("public"), await tierOf("restricted")]).toEqual(["restricted", "restricted"]);
    expect(await filterEnvironment({ ...state, privacy_tier: "secret" }, policy)).toEqual({
      state: undefined,
      withheld: ["os", "mail"],
    });
    const open = await filterEnvironment(
      { ...state, privacy_tier: "secret" },
      { ...policy, maxTier: "secret" },
    );
    expect(open.state).toEqual({ ...state, privacy_tier: "secret" });
  });

  it("has nothing leave by a tier that is none", async () => {
    const tiers = { os: "Secret" as never };
    expect((await filterEnvironment({ os: "x" }, { tiers })).state).toBeUndefined();
    const none = { tiers: { os: "public" }, maxTier: "Public" } as never;
    expect((await filterEnvironment({ os: "x" }, none)).state).toBeUndefined();
  });

  it("never has a value leave that the policy keeps, and says the highest tier of what leaves", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(key, fc.string().map(marked)),
        fc.option(fc.dictionary(key, tier), { nil: undefined }),
        fc.option(fc.uniqueArray(key), { nil: undefined }),
        fc.uniqueArray(key),
        fc.option(tier, { nil: undefined }),
        fc.option(tier, { nil: undefined }),
        async (values, tiers, allow, hash, maxTier, floor) => {
          const policy = {
            hash,
            ...(tiers && { tiers }),
            ...(allow && { allow }),
            ...(maxTier && { maxTier }),
          };
          const given = { ...values, ...(floor && { privacy_tier: floor }) };
          const { state, withheld } = await filterEnvironment(given, policy);
          const known = new Map(Object.entries(tiers ?? {}));
          const allowed = allow ?? [...known.keys()];
          const left: number[] = [];
          for (const [name, value] of Object.entries(values)) {
            const level = Math.max(levels[known.get(name) ?? "restricted"], levels[floor ?? "public"]);
            const leaves = allowed.some((one) => one === name) && level <= levels[maxTier ?? "restricted"];
            const sent = state !== undefined && Object.hasOwn(state, name) ? state[name] : undefined;
            expect(withheld.includes(name)).toBe(!leaves);
            const expected = hash.some((one) => one === name) ? await hashValue(value) : value;
            expect(sent).toBe(leaves ? expected : undefined);
            if (leaves) left.push(level);
          }
          if (state === undefined) expect(left).toEqual([]);
          else {
            expect(levels[state.privacy_tier ?? "public"]).toBe(Math.max(...left));
            expect(EnvironmentStateSchema.parse(state)).toEqual(state);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("hashValue", () => {
  it("is the same for the same JSON, and another one with a key", async () => {
    expect(await hashValue({ b: 1, a: [true] })).toBe(await hashValue({ a: [true], b: 1 }));
    expect(await hashValue("")).toBe(
      "sha256:12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126",
    );
    const keyed = await hashValue("1234", "a key of ours");
    expect(keyed).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect([await hashValue("1234"), await hashValue("1234", "another")]).not.toContain(keyed);
    const policy = { allow: ["pin"], hash: ["pin"], hashKey: "a key of ours" };
    expect((await filterEnvironment({ pin: "1234" }, policy)).state?.pin).toBe(keyed);
  });

  it("refuses what is no JSON, and then nothing is sent", async () => {
    expect(await rejection(hashValue((() => {}) as never))).toMatchObject({ code: "invalid_argument" });
    const { shell, sent } = scripted((request) => respond(request), {
      environment: { allow: ["screen"], hash: ["screen"] },
    });
    const error = await rejection(shell.send({ environment: { screen: (() => {}) as never } }));
    expect(error).toMatchObject({ code: "invalid_request", path: "request.context.environment_state" });
    expect(sent).toEqual([]);
  });
});
