import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approveBy } from "@harnesskit/approvals/testing";
import { expect, onTestFinished, test } from "vitest";
import { openSentLog } from "../src/index.ts";
import { openNotifier, startService } from "./support.ts";

const webhooks = (urls: Record<string, string>, rest: string) =>
  `version: 1\ntargets:\n${Object.entries(urls)
    .map(([name, url]) => `  ${name}: { kind: webhook, url: "${url}/${name}" }\n`)
    .join("")}${rest}`;

const idsOf = ({ json }: { readonly json: Record<string, unknown> }) =>
  (json.data as { approvals: { id: string }[] }).approvals.map(({ id }) => id);

const minuteMs = 60_000;

test("tells what waits at the start and what comes, and a second address later, unless it was answered", async () => {
  const service = await startService();
  const { clock, store, errors, start, ask } = openNotifier(
    webhooks(
      { team: service.url, boss: service.url },
      "notify: [{ to: [team] }, { to: [boss], afterMinutes: 10 }]",
    ),
  );
  const first = await ask("c1");
  const notifier = start();
  await expect.poll(() => service.received.length).toBe(1);
  expect(service.received[0]?.path).toBe("/team");
  expect(idsOf(service.received[0] as never)).toEqual([first.id]);
  // The notice is done with, and there are timers of the watch, of the second address and of the pause between two notices.
  await expect.poll(() => [notifier.stats().team, clock.pending]).toEqual([0, 3]);
  const second = await ask("c2");
  await expect.poll(() => notifier.stats().team).toBe(1);
  clock.advance(2_000);
  await expect.poll(() => service.received.length).toBe(2);
  await store.apply(first.id, approveBy(first));
  // No timer of the first is left: those of the watch, of the second and of the pause are.
  await expect.poll(() => [notifier.stats().team, clock.pending]).toEqual([0, 3]);
  clock.advance(9 * minuteMs);
  expect(service.received).toHaveLength(2);
  clock.advance(minuteMs);
  await expect.poll(() => service.received.length).toBe(3);
  expect(service.received[2]?.path).toBe("/boss");
  expect(idsOf(service.received[2] as never)).toEqual([second.id]);
  expect(errors).toEqual([]);
});

test("holds notices back in quiet hours, except those of the risks that are named", async () => {
  const service = await startService();
  // The clock starts on Tuesday, 2023-11-14, at 22:13:20 UTC.
  const { clock, start, ask } = openNotifier(
    webhooks(
      { team: service.url },
      'notify: [{ to: [team] }]\nquiet: [{ from: "22:00", to: "07:00", except: [critical] }]',
    ),
  );
  const quiet = await ask("c1", { answerWithinMs: 86_400_000 });
  const loud = await ask("c2", { risk: { level: "critical" } });
  start();
  await expect.poll(() => service.received.length).toBe(1);
  expect(idsOf(service.received[0] as never)).toEqual([loud.id]);
  clock.advance(8 * 60 * minuteMs);
  expect(service.received).toHaveLength(1);
  clock.advance(47 * minuteMs);
  await expect
    .poll(() => {
      // The pause between two notices to one target.
      clock.advance(2_000);
      return service.received.length;
    })
    .toBe(2);
  expect(idsOf(service.received[1] as never)).toEqual([quiet.id]);
});

test("tries again what failed, and gives up what the target refuses for good, without its address", async () => {
  const service = await startService([
    503,
    429,
    200,
    404,
    { status: "302", location: "http://127.0.0.1:9/" },
  ]);
  const { clock, errors, start, ask } = openNotifier(
    webhooks({ team: service.url }, "notify: [{ to: [team] }]"),
  );
  start();
  await ask("c1");
  await expect.poll(() => errors.length).toBe(1);
  expect(errors[0]).toMatchObject({ name: "NotifyError", code: "target_refused", isFinal: false });
  await expect
    .poll(() => {
      clock.advance(1_000);
      return service.received.length;
    })
    .toBe(1);
  for (const [callId, count, code] of [
    ["c2", 2, "target_gone"],
    ["c3", 3, "target_refused"],
  ] as const) {
    await ask(callId);
    await expect
      .poll(() => {
        clock.advance(500);
        return errors.length;
      })
      .toBe(count);
    expect(errors.at(-1)).toMatchObject({ code, isFinal: true });
    expect(errors.at(-1)?.message).not.toContain("127.0.0.1");
  }
});

test("a target that cannot be reached and one that does not answer are errors by name", async () => {
  const { clock, errors, start, ask } = openNotifier(
    webhooks({ gone: "http://127.0.0.1:1", slow: "http://127.0.0.1:2" }, "notify: [{ to: [gone, slow] }]"),
    {
      fetch: (url, init) =>
        String(url).endsWith("/slow")
          ? new Promise((_resolve, reject) => {
              init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
            })
          : fetch(url, init),
    },
  );
  start();
  await ask("c1");
  await expect.poll(() => errors.map(({ code }) => code)).toEqual(["target_unreachable"]);
  clock.advance(10_000);
  await expect.poll(() => errors.map(({ code }) => code)).toContain("target_timeout");
});

test("what comes while a notice is sent goes out as one, with what is not listed counted", async () => {
  const service = await startService();
  const { clock, start, ask } = openNotifier(webhooks({ team: service.url }, "notify: [{ to: [team] }]"));
  const notifier = start();
  await ask("c0");
  await expect.poll(() => service.received.length).toBe(1);
  for (let call = 1; call <= 12; call++) await ask(`c${call}`);
  await expect.poll(() => notifier.stats().team).toBe(12);
  clock.advance(2_000);
  await expect.poll(() => service.received.length).toBe(2);
  expect(idsOf(service.received[1] as never)).toHaveLength(10);
  expect(service.received[1]?.json.data).toMatchObject({ total: 12 });
});

test("a restart tells nothing twice, and a file that is garbage tells it once more", async () => {
  const directory = mkdtempSync(join(tmpdir(), "notify-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "sent.json");
  const service = await startService();
  const { start, ask } = openNotifier(webhooks({ team: service.url }, "notify: [{ to: [team] }]"), {
    sent: await openSentLog(file),
  });
  const record = await ask("c1");
  const first = start();
  const key = `${record.id} team 0`;
  await expect.poll(async () => (await openSentLog(file)).has(key)).toBe(true);
  await first[Symbol.asyncDispose]();
  const sent = await openSentLog(file);
  expect(sent.has(key)).toBe(true);
  const { writeFileSync } = await import("node:fs");
  writeFileSync(file, "{ not json");
  expect((await openSentLog(file)).has(key)).toBe(false);
});

test("only what its conditions name is told, and a source that fails is asked again", async () => {
  const service = await startService();
  const opened = openNotifier(
    webhooks(
      { team: service.url },
      "notify: [{ to: [team], when: { risk: [high], agent: [codex], tool: [shell] } }]",
    ),
  );
  let failures = 1;
  const { clock, store, errors } = opened;
  const { createNotifier, parseNotifyConfig } = await import("../src/index.ts");
  const { links } = await import("./support.ts");
  const notifier = createNotifier({
    config: parseNotifyConfig(
      webhooks(
        { team: service.url },
        "notify: [{ to: [team], when: { risk: [high], agent: [codex], tool: [shell] } }]",
      ),
      {},
    ),
    source: {
      page: (options) => store.page(options),
      watch(options) {
        if (failures-- > 0) throw Object.assign(new Error("the store is busy"), { code: "store_busy" });
        return store.watch(options);
      },
    },
    links,
    clock,
    onError: (error) => errors.push(error as never),
  });
  onTestFinished(() => notifier.close());
  await opened.ask("c1", { risk: { level: "high" } });
  await opened.ask("c2", {
    ...{ origin: { agent: "codex" }, subject: { tool: "shell" }, risk: { level: "low" } },
  });
  const meant = await opened.ask("c3", {
    ...{ origin: { agent: "codex" }, subject: { tool: "shell" }, risk: { level: "high" } },
  });
  notifier.start();
  await expect.poll(() => errors.map(({ code }) => code)).toEqual(["store_busy"]);
  await expect
    .poll(() => {
      clock.advance(1_000);
      return service.received.length;
    })
    .toBe(1);
  expect(idsOf(service.received[0] as never)).toEqual([meant.id]);
});

test("two steps that are due at once tell an approval once, and a log that fails holds nothing back", async () => {
  const service = await startService();
  const { clock, errors, start, ask } = openNotifier(
    webhooks(
      { team: service.url },
      'notify: [{ to: [team] }, { to: [team], afterMinutes: 10 }]\nquiet: [{ from: "22:00", to: "23:00" }]',
    ),
    { sent: { has: () => false, add: () => Promise.reject(new Error("no space left")) } },
  );
  // The clock starts at 22:13 UTC.
  await ask("c1", { answerWithinMs: 86_400_000 });
  start();
  await expect.poll(() => clock.pending).toBeGreaterThan(1);
  clock.advance(47 * minuteMs);
  await expect.poll(() => service.received.length).toBe(1);
  expect(service.received[0]?.json.data).toMatchObject({ total: 1 });
  await expect.poll(() => errors.length).toBe(1);
  await ask("c2", { answerWithinMs: 86_400_000 });
  await expect
    .poll(() => {
      clock.advance(2_000);
      return service.received.length;
    })
    .toBe(2);
});

test("reads no older approval at the start, and misses no change between its list and its watch", async () => {
  const service = await startService();
  const watched: (number | undefined)[] = [];
  const opened = openNotifier(webhooks({ team: service.url }, "notify: [{ to: [team] }]"));
  const { store, ask, clock } = opened;
  for (let index = 0; index < 5; index++) {
    const old = await ask(`old-${index}`);
    await store.apply(old.id, approveBy(old));
  }
  const waiting = await ask("waiting");
  const other = await ask("other");
  await store.apply(other.id, approveBy(other));
  const { records } = await store.page({ limit: 100 });
  const reading = openNotifier(webhooks({ team: service.url }, "notify: [{ to: [team] }]"), {
    clock,
    source: {
      page: async (options) => {
        const page = await store.page(options);
        // Asked when the list was read, and before the watch begins.
        if (watched.length === 0) await ask("between");
        return page;
      },
      watch(options) {
        watched.push(options?.afterSeq);
        return store.watch(options);
      },
    },
  });
  reading.start();
  await expect.poll(() => service.received.length).toBe(1);
  expect(idsOf(service.received[0] as never)).toContain(waiting.id);
  expect(watched).toEqual([records.at(-1)?.seq]);
  await expect
    .poll(() => {
      clock.advance(2_000);
      return service.received.flatMap((each) => idsOf(each as never)).length;
    })
    .toBe(2);
});

test("an approval that is answered between the list and the watch is not told later", async () => {
  const service = await startService();
  const handled: string[] = [];
  const { clock, store, start, ask } = openNotifier(
    webhooks({ boss: service.url }, "notify: [{ to: [boss], afterMinutes: 10 }]"),
    {
      source: {
        page: async (options) => {
          const page = await store.page(options);
          for (const record of page.records) await store.apply(record.id, approveBy(record));
          return page;
        },
        async *watch(options) {
          for await (const record of store.watch(options)) {
            yield record;
            handled.push(record.status);
          }
        },
      },
    },
  );
  await ask("c1");
  const notifier = start();
  await expect.poll(() => handled).toEqual(["approved"]);
  clock.advance(10 * minuteMs);
  expect(notifier.stats().boss).toBe(0);
});

test("an unknown risk is told as a high one: past its quiet hours, to its address, and in words", async () => {
  const service = await startService();
  const { start, ask } = openNotifier(
    `version: 1
targets: { phone: { kind: ntfy, url: "${service.url}/topic" } }
notify: [{ to: [phone], when: { risk: [high] } }]
quiet: [{ from: "22:00", to: "07:00", except: [high] }]`,
  );
  await ask("c1", { risk: { level: "medium" } });
  const unknown = await ask("c2", { risk: { level: "unknown" } });
  start();
  await expect.poll(() => service.received.length).toBe(1);
  const { title, priority, click } = service.received[0]?.json ?? {};
  expect([title, priority]).toEqual(["An approval waits (risk unknown)", 4]);
  expect(click).toContain(unknown.id);
});
