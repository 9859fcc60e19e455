import { ok } from "node:assert";
import { checkRejects, checkEqual as same } from "@harnesskit/wire/testing";
import { type StoreCases, sampleGrant, sampleThread } from "./store-case.ts";

const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

const bytesOf = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> => {
  const read: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of parts) read.push(Uint8Array.from(part));
  return new Uint8Array(await new Blob(read).arrayBuffer());
};

export const besideCases: StoreCases = {
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
