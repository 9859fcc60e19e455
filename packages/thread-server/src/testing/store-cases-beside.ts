import { ok } from "node:assert";
import { checkRejects, checkEqual as same } from "@harnesskit/wire/testing";
import { readAll, type StoreCases, sampleEvent, sampleGrant, sampleThread } from "./store-case.ts";

/** How many ask at once where only one may win. */
const contenders = 50;

const claimOf = (threadId: string) => ({ threadId, requestDigest: `digest of ${threadId}` });

const otherKeys = ["", "../x", "one key ", "ONE KEY", "__proto__", "\0", "k".repeat(10_000)];

const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

const bytesOf = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> => {
  const read: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of parts) read.push(Uint8Array.from(part));
  return new Uint8Array(await new Blob(read).arrayBuffer());
};

/** What a store keeps beside the log: leases, claims, artifacts and grants. */
export const besideCases: StoreCases = {
  async "one lease of a thread is held at a time, and does not keep others from reading or from other threads"({
    store,
  }) {
    await store.create(sampleThread("ses_1"));
    await store.create(sampleThread("ses_2"));
    const lease = await store.lease("ses_1");
    await checkRejects(store.lease("ses_1"), "thread_locked", "a second lease");
    const other = await store.lease("ses_2");
    await store.append("ses_1", [sampleEvent("ses_1", 1)], { flush: false });
    same(await readAll(store, "ses_1"), [sampleEvent("ses_1", 1)], "the events of a thread that is held");
    same(await store.get("ses_1"), sampleThread("ses_1"), "a thread that is held");
    await lease.release();
    await other.release();
    await (await store.lease("ses_1")).release();
  },
  async "releasing twice is releasing once, and never releases the next lease"({ store }) {
    await store.create(sampleThread("ses_1"));
    const first = await store.lease("ses_1");
    await Promise.all([first.release(), first.release()]);
    const second = await store.lease("ses_1");
    await first.release();
    await checkRejects(store.lease("ses_1"), "thread_locked", "a lease while the second one is held");
    await store.append("ses_1", [sampleEvent("ses_1", 1)], { flush: false });
    await second.release();
    await second.release();
  },
  async "of many that ask for a lease at once one gets it"({ store }) {
    await store.create(sampleThread("ses_1"));
    const asked = await Promise.allSettled(Array.from({ length: contenders }, () => store.lease("ses_1")));
    const won = asked.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    same(won.length, 1, `leases that ${contenders} got`);
    for (const outcome of asked) {
      if (outcome.status === "rejected")
        await checkRejects(Promise.reject(outcome.reason), "thread_locked", "a lease that was not got");
    }
    await store.append("ses_1", [sampleEvent("ses_1", 1)], { flush: false });
    await won[0]?.release();
    await (await store.lease("ses_1")).release();
  },
  async "closing releases what is held"({ store, reopen }) {
    for (const id of ["ses_1", "ses_2"]) {
      await store.create(sampleThread(id));
      await store.lease(id);
      await store.append(id, [sampleEvent(id, 1)], { flush: false });
    }
    const later = await reopen();
    for (const id of ["ses_1", "ses_2"]) {
      const lease = await later.lease(id);
      same(await readAll(later, id), [sampleEvent(id, 1)], "the events after a closing");
      await lease.release();
    }
    await later.close();
    await later.close();
  },
  async "a key is claimed once, however many claim it, also after a reopening"({ store, reopen }) {
    const claims = Array.from({ length: contenders }, (_, index) => claimOf(`ses_${index}`));
    const kept = await Promise.all(claims.map((claim) => store.claim("one key", claim)));
    same(new Set(kept.map(({ threadId }) => threadId)).size, 1, "threads that claims of one key got");
    const [winner] = kept;
    ok(
      claims.some(({ threadId }) => threadId === winner?.threadId),
      "the stored claim has no owner",
    );
    same(winner, { ...claimOf(winner?.threadId ?? ""), isDeleted: false }, "the claim that was kept");
    for (const [index, key] of otherKeys.entries()) {
      const claim = claimOf(`ses_${1000 + index}`);
      same(await store.claim(key, claim), { ...claim, isDeleted: false }, "the claim of another key");
    }
    const late = claimOf("ses_2000");
    same(await store.claim("one key", late), winner, "the claim that was kept");
    const later = await reopen();
    for (const key of ["one key", ...otherKeys]) {
      const { threadId } = await later.claim(key, late);
      const expected: string | undefined =
        key === "one key" ? winner?.threadId : `ses_${1000 + otherKeys.indexOf(key)}`;
      same(threadId, expected, "the claim that was kept after a reopening");
    }
  },
  async "a claim says that its thread was deleted, and of one that was never made it does not"({
    store,
    reopen,
  }) {
    for (const id of ["ses_1", "ses_2", "ses_3"]) {
      await store.claim(`key of ${id}`, claimOf(id));
      await store.create(sampleThread(id));
      const lease = await store.lease(id);
      if (id !== "ses_2") await store.append(id, [sampleEvent(id, 1)], { flush: true });
      if (id !== "ses_3") await store.delete(id);
      await lease.release();
    }
    const look = async (at: typeof store, when: string) => {
      for (const [id, isDeleted] of [
        ["ses_1", true],
        ["ses_2", false],
        ["ses_3", false],
      ] as const) {
        const kept = await at.claim(`key of ${id}`, claimOf("ses_4"));
        same(kept, { ...claimOf(id), isDeleted }, `the claim of ${id} ${when}`);
      }
    };
    await look(store, "after the deletion");
    await look(await reopen(), "after a reopening");
  },
  async "an artifact is named with its size in bytes and its hash, written in however many parts"({ store }) {
    await store.create(sampleThread("ses_1"));
    const paths = new Set<string>();
    const samples: readonly [string, readonly (string | Uint8Array<ArrayBuffer>)[]][] = [
      ["empty.txt", []],
      ["picture.png", [Uint8Array.of(0x89, 0x50, 0xff, 0), "ü", Uint8Array.of(0xfe)]],
      ["parts.json", ["one ", "", "zwei ü ", "😀", "\n\0"]],
      ["large_-.log", Array.from({ length: 50 }, (_, index) => `${index}ü`.repeat(5000))],
    ];
    for (const [name, parts] of samples) {
      const writer = await store.openArtifact("ses_1", name);
      for (const part of parts) await writer.write(part);
      const { path, sizeBytes, sha256 } = await writer.close();
      const bytes = new Uint8Array(await new Blob([...parts]).arrayBuffer());
      same(sizeBytes, bytes.length, `the size of ${name}`);
      same(sha256, toHex(await crypto.subtle.digest("SHA-256", bytes)), `the hash of ${name}`);
      ok(path.endsWith(name), `the path of ${name} does not end with its name`);
      paths.add(path);
      const read = await bytesOf(store.readArtifact("ses_1", name));
      same(toHex(await crypto.subtle.digest("SHA-256", read)), sha256, `what is read of ${name}`);
    }
    same(paths.size, samples.length, "different paths");
    for (const [id, name] of [
      ["ses_1", "none.txt"],
      ["ses_2", "parts.json"],
    ] as const) {
      const read = await bytesOf(store.readArtifact(id, name));
      same(read.length, 0, `what is read of ${name} of ${id}`);
    }
  },
  async "an artifact's name is letters, digits, `_`, `-` and `.`, and never a way out"({ store }) {
    await store.create(sampleThread("ses_1"));
    for (const name of [
      "",
      ".",
      "..",
      "../x",
      "a/b",
      "a\\b",
      ".hidden",
      "a\0",
      "a b",
      "ü",
      "a\n",
      "n".repeat(5000),
    ]) {
      const opened = store.openArtifact("ses_1", name);
      await checkRejects(opened, "store_failed", `an artifact named ${JSON.stringify(name.slice(0, 40))}`);
    }
    for (const id of ["ses_2", "../ses_1", ""]) {
      await checkRejects(
        store.openArtifact(id, "a.txt"),
        "store_failed",
        `an artifact of thread ${JSON.stringify(id)}`,
      );
    }
    const taken = await store.openArtifact("ses_1", "a.txt");
    await taken.close();
    await checkRejects(
      store.openArtifact("ses_1", "a.txt"),
      "store_failed",
      "an artifact under a name that is taken",
    );
  },
  async "grants are kept until they are removed, each once, also after a reopening"({ store, reopen }) {
    same(await store.grants(), [], "the grants of a new store");
    same(await store.removeGrant("grant_1"), false, "removing an unknown grant");
    await store.addGrant(sampleGrant("grant_1", "ses_1", "thread"));
    await store.addGrant(sampleGrant("grant_2", "ses_2", "directory"));
    await store.addGrant(sampleGrant("grant_3", "ses_2", "thread"));
    const all = async (at: typeof store) =>
      (await at.grants()).sort((a, b) => (a.grantId < b.grantId ? -1 : 1)).map(({ grantId }) => grantId);
    same(await all(store), ["grant_1", "grant_2", "grant_3"], "the grants");
    const other = { ...sampleGrant("grant_4", "ses_1", "thread"), digest: "sha256:4" };
    await store.addGrant(other);
    same(await store.grants({ digest: "sha256:4" }), [other], "the grants for a digest");
    same(await store.removeGrant("grant_4"), true, "removing a grant with a digest of its own");
    same(await store.grants({ digest: "sha256:4" }), [], "the grants for a digest that has none");
    for (const hostile of ["", "..", "../grants/grant_1", "grant_1.json", "grant_1\0", "__proto__"]) {
      same(await store.removeGrant(hostile), false, `removing ${JSON.stringify(hostile)}`);
    }
    same(await store.removeGrant("grant_2"), true, "removing a grant");
    same(await store.removeGrant("grant_2"), false, "removing a grant twice");
    same(await all(store), ["grant_1", "grant_3"], "the grants after a removal");
    const later = await reopen();
    same(await all(later), ["grant_1", "grant_3"], "the grants after a reopening");
    const kept = (await later.grants()).find(({ grantId }) => grantId === "grant_1");
    same(kept, sampleGrant("grant_1", "ses_1", "thread"), "a grant after a reopening");
  },
};
