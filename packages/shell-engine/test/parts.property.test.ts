import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { MemoryContinuationStore } from "../src/continuation-store.ts";
import { ContinuationSigner } from "../src/continuation-token.ts";
import { RequestMemory } from "../src/request-memory.ts";
import { TestClock } from "./support.ts";

describe("the memory of requests", () => {
  const command = fc.record({
    kind: fc.constantFrom("add", "settle", "forget", "wait", "get"),
    owner: fc.constantFrom("a", "b", "c"),
    key: fc.constantFrom("1", "2", "3", "4", "5"),
    length: fc.nat({ max: 40 }),
    ms: fc.nat({ max: 400 }),
  });

  it("keeps its bounds, and never gives up what is under way or gives what is not there", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const clock = new TestClock();
        const memory = new RequestMemory<string>({ maxEntries: 6, maxLength: 100, keepMs: 1000, clock });
        const running = new Set<string>();
        const done = new Map<string, { at: number; length: number }>();
        for (const { kind, owner, key, length, ms } of commands) {
          const name = `${owner}${key}`;
          const known = memory.get(owner, key);
          if (running.has(name)) expect(known).toBeDefined();
          if (!running.has(name) && !done.has(name)) expect(known).toBeUndefined();
          if (known && !running.has(name)) expect(clock.now() - (done.get(name)?.at ?? 0)).toBeLessThan(1000);
          if (kind === "add" && !known) {
            memory.add(owner, key, "1", name);
            running.add(name);
            done.delete(name);
          } else if (kind === "settle" && (running.has(name) || !known)) {
            const text = "x".repeat(length);
            if (!running.delete(name)) memory.add(owner, key, "2", name);
            memory.settle(owner, key, text);
            done.set(name, { at: clock.now(), length });
            const settled = memory.get(owner, key);
            if (settled) expect(settled).toMatchObject({ text, asked: known ? "1" : "2" });
          } else if (kind === "forget") {
            memory.forget(owner, key);
            running.delete(name);
            done.delete(name);
          } else if (kind === "wait") clock.move(ms);
          expect(memory.size).toBeLessThanOrEqual(Math.max(6, running.size));
          const kept = [...done].filter(([one]) => memory.get(one.slice(0, 1), one.slice(1)));
          expect(kept.reduce((sum, [, entry]) => sum + entry.length, 0)).toBeLessThanOrEqual(100);
        }
        for (const name of running)
          expect(memory.get(name.slice(0, 1), name.slice(1))).toMatchObject({ asked: "1", work: name });
      }),
      { numRuns: runs(60) },
    );
  });
});

describe("the signer of continuations", () => {
  it("reads back what it signed for the same owner, and nothing else", async () => {
    const signer = new ContinuationSigner(new Uint8Array(32).fill(1), 512);
    const other = new ContinuationSigner(new Uint8Array(32).fill(2), 512);
    const text = fc.string({ unit: "binary", maxLength: 20 });
    const claims = fc.record(
      { id: text, expiresAtMs: fc.nat(), session: text, run: text, step: text },
      { requiredKeys: ["id", "expiresAtMs", "session"] },
    );
    await fc.assert(
      fc.asyncProperty(claims, text, text, fc.nat(), async (said, owner, stranger, at) => {
        const token = await signer.sign(said, owner);
        expect(await signer.verify(token, owner)).toEqual(JSON.parse(JSON.stringify(said)));
        expect(await other.verify(token, owner)).toBeUndefined();
        if (stranger !== owner) expect(await signer.verify(token, stranger)).toBeUndefined();
        const place = at % token.length;
        const changed = `${token.slice(0, place)}${token[place] === "x" ? "y" : "x"}${token.slice(place + 1)}`;
        expect(await signer.verify(changed, owner)).toBeUndefined();
      }),
      { numRuns: runs(40) },
    );
  });

  it("reads no text that nobody signed", async () => {
    const signer = new ContinuationSigner(new Uint8Array(32), 512);
    const part = fc.string({ maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          part,
          fc.tuple(part, part).map(([body, mac]) => `hk1.${body}.${mac}`),
        ),
        async (text) => {
          expect(await signer.verify(text, "")).toBeUndefined();
        },
      ),
      { numRuns: runs(60) },
    );
  });
});

describe("the store of continuations", () => {
  it("lets one claim of each through, forgets what has expired, and refuses rather than forget another", () => {
    const clock = new TestClock();
    const limits = { maxUsedContinuations: 2, maxRuns: 2, maxRunDataLength: 1000 };
    const store = new MemoryContinuationStore(limits, clock);
    const end = clock.now() + 1000;
    store.keep("a", { kept: 1 }, end);
    expect(store.claim("a", end)).toEqual({ status: "claimed", data: { kept: 1 } });
    expect(store.claim("a", end)).toEqual({ status: "used" });
    store.release("a");
    expect(store.claim("a", end)).toEqual({ status: "claimed", data: { kept: 1 } });
    expect(store.claim("b", end + 1000).status).toBe("claimed");
    const claim = () => store.claim("c", end + 1000).status;
    expect(claim).toThrow(expect.objectContaining({ name: "BufferFullError", code: "buffer_full" }));
    clock.move(1000);
    expect(claim()).toBe("claimed");
    expect(claim()).toBe("used");
  });
});
