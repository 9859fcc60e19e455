import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { sampleQuestion } from "@harnesskit/approvals/testing";
import { expect, onTestFinished, test } from "vitest";
import { startPushService } from "../../../test-kit/push-browser.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { createNotifier, openPushKeys, webPushConfig } from "../src/index.ts";

const openPushes = async (target: { endpoint: string; keys: { p256dh: string; auth: string } }) => {
  const directory = await temporaryDirectory();
  const keys = await openPushKeys(join(directory.path, "hub", "push-keys.json"));
  const approvals = createMemoryApprovalStore();
  const errors: unknown[] = [];
  const vapid = { ...keys, subject: "https://hub.example.org" };
  const notifier = createNotifier({
    config: webPushConfig("dev_1", { kind: "web_push", ...target, vapid }),
    source: approvals,
    links: { page: (id) => `https://hub.example.org/#/inbox/${id}` },
    limits: { spacingMs: 0 },
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => {
    await notifier.close();
    await approvals.close();
    await directory[Symbol.asyncDispose]();
  });
  return { keys, notifier, approvals, errors };
};

const secretQuestion = sampleQuestion({
  origin: { agent: "codex\u202e", directory: "/home/ada/secret-project" },
  subject: { tool: "bash", input: { command: "curl -H 'x: hunter2' https://internal.example" } },
  rule: { id: "commands", reason: "it sends secret-project away" },
  risk: { level: "high", reasons: ["it speaks to internal.example"] },
});

test("a push says agent, tool and risk, and holds nothing of what will be done, not even encrypted", async () => {
  const service = await startPushService();
  const { keys, notifier, approvals } = await openPushes(service.subscription);
  const { record } = await approvals.ask(secretQuestion);
  notifier.start();
  await expect.poll(() => service.received.length).toBe(1);
  const [{ headers, body, text }] = service.received as [(typeof service.received)[number]];
  expect(JSON.parse(text)).toEqual({
    total: 1,
    items: [{ id: record.id, agent: "codex⟨U+202E⟩", tool: "bash", risk: "high" }],
  });
  expect(headers).toMatchObject({ "content-encoding": "aes128gcm", ttl: "3600", urgency: "high" });
  expect(headers["content-type"]).toBe("application/octet-stream");
  const [, token = "", key] = /^vapid t=(\S+), k=(\S+)$/.exec(headers.authorization ?? "") ?? [];
  expect(key).toBe(keys.publicKey);
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  expect(claims).toMatchObject({
    aud: new URL(service.subscription.endpoint).origin,
    sub: "https://hub.example.org",
  });
  for (const word of ["codex", "bash", "hunter2", "internal", "secret-project"]) {
    expect(body.toString("latin1")).not.toContain(word);
    if (word.length > 5) expect(text).not.toContain(word);
  }
});

test("several at once are one push, of which the longest names fit", async () => {
  const service = await startPushService();
  const { notifier, approvals } = await openPushes(service.subscription);
  for (let index = 0; index < 12; index++)
    await approvals.ask(
      sampleQuestion({
        origin: { agent: "気".repeat(250), callId: `c${index}` },
        subject: { tool: "道".repeat(250), input: { index } },
      }),
    );
  notifier.start();
  await expect.poll(() => service.received.length).toBe(1);
  expect(JSON.parse(service.received[0]?.text ?? "")).toMatchObject({ total: 12, items: { length: 5 } });
  expect(service.received[0]?.body.length).toBeLessThan(4096);
});

test.each([
  ["that its push service has forgotten", (keys: object) => keys],
  ["whose keys are none", () => ({ p256dh: "x", auth: "y" })],
])("a subscription %s is reported as gone, once, and not tried again", async (_name, keysOf) => {
  const service = await startPushService();
  service.forget();
  const { endpoint, keys } = service.subscription;
  const { notifier, approvals, errors } = await openPushes({ endpoint, keys: keysOf(keys) as typeof keys });
  await approvals.ask(sampleQuestion());
  notifier.start();
  await expect.poll(() => errors.length).toBe(1);
  expect(errors).toMatchObject([{ name: "NotifyError", code: "target_gone", isFinal: true }]);
  expect(service.received.length).toBeLessThan(2);
});

test("the push keys stay in their private file, and a damaged one is named", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "push-keys.json");
  const [keys, same] = await Promise.all([openPushKeys(path), openPushKeys(path)]);
  expect(same).toEqual(keys);
  expect(await openPushKeys(path)).toEqual(keys);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await writeFile(path, "{}");
  await expect(openPushKeys(path)).rejects.toMatchObject({ name: "NotifyError", code: "invalid_config" });
});
