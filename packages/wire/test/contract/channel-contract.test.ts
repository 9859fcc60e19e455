import { describe, expect, it } from "vitest";
import type { ChannelProfile } from "../../src/testing/channel-contract.ts";
import { channelContract } from "../../src/testing/index.ts";
import { type Broken, lengthPrefix, makePair, message, newline } from "./broken.ts";
import { brokenChannels as subjects } from "./broken-channels.ts";

const listed = (profile: ChannelProfile, subject: Partial<Broken> = {}, timeoutMs = 5000) =>
  channelContract({ name: "x", makePair: () => makePair({ ...subject, profile }), profile, timeoutMs });

describe("channelContract", () => {
  it("passes channels in order, with every framing", async () => {
    const profiles = [newline, lengthPrefix];
    for (const profile of profiles) for (const { run } of listed(profile)) await run();
    const oversize = listed(message).find(({ name }) => name.includes("an oversize message is reported"));
    await oversize?.run();
    expect(oversize).toBeDefined();
  });

  it.each(subjects.map((subject) => [subject.caught, subject.how, subject] as const))(
    "%s — catches a channel that %s",
    async (caught, _how, subject) => {
      // Long enough for what has to happen, short enough for what a broken channel never does.
      const entry = listed(subject.profile ?? newline, subject, 400).find(
        ({ name }) => name === `x: ${caught}`,
      );
      expect(entry).toBeDefined();
      await expect(entry?.run()).rejects.toMatchObject({ name: "ContractError", code: "contract_broken" });
    },
  );

  it("has a broken channel for each of its cases", () => {
    const names = new Set(
      [newline, lengthPrefix, message].flatMap((profile) => listed(profile).map(({ name }) => name)),
    );
    const caught = new Set(subjects.map((subject) => `x: ${subject.caught}`));
    expect([...names].filter((name) => !caught.has(name))).toEqual([]);
  });
});
