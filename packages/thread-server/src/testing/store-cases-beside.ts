import { demand, demandRejection, demandSame, sampleGrant, sampleThread } from "./check.ts";
import type { StoreCase } from "./thread-store-contract.ts";

const toHex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

const artifacts: StoreCase = {
  name: "an artifact is named with its size in bytes and its hash, written in however many parts",
  async run({ store }) {
    await store.create(sampleThread("ses_1"));
    const paths = new Set<string>();
    const samples: readonly [string, readonly string[]][] = [
      ["empty.txt", []],
      ["parts.json", ["one ", "", "zwei ü ", "😀", "\n\0"]],
      ["large_-.log", Array.from({ length: 50 }, (_, index) => `${index}ü`.repeat(5000))],
    ];
    for (const [name, parts] of samples) {
      const writer = await store.openArtifact("ses_1", name);
      for (const part of parts) await writer.write(part);
      const { path, sizeBytes, sha256 } = await writer.close();
      const bytes = new TextEncoder().encode(parts.join(""));
      demandSame(sizeBytes, bytes.length, `the size of ${name}`);
      demandSame(sha256, toHex(await crypto.subtle.digest("SHA-256", bytes)), `the hash of ${name}`);
      demand(path.endsWith(name), `the path of ${name} does not end with its name`);
      paths.add(path);
    }
    demandSame(paths.size, samples.length, "different paths");
  },
};

const artifactNames: StoreCase = {
  name: "an artifact's name is letters, digits, `_`, `-` and `.`, and never a way out",
  async run({ store }) {
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
      await demandRejection(opened, "store_failed", `an artifact named ${JSON.stringify(name.slice(0, 40))}`);
    }
    for (const id of ["ses_2", "../ses_1", ""]) {
      await demandRejection(
        store.openArtifact(id, "a.txt"),
        "store_failed",
        `an artifact of thread ${JSON.stringify(id)}`,
      );
    }
    const taken = await store.openArtifact("ses_1", "a.txt");
    await taken.close();
    await demandRejection(
      store.openArtifact("ses_1", "a.txt"),
      "store_failed",
      "an artifact under a name that is taken",
    );
  },
};

const grants: StoreCase = {
  name: "grants are kept until they are removed, each once, also after a reopening",
  async run({ store, reopen }) {
    demandSame(await store.grants(), [], "the grants of a new store");
    demandSame(await store.removeGrant("grant_1"), false, "removing a grant that is none");
    await store.addGrant(sampleGrant("grant_1", "ses_1", "thread"));
    await store.addGrant(sampleGrant("grant_2", "ses_2", "directory"));
    await store.addGrant(sampleGrant("grant_3", "ses_2", "thread"));
    const all = async (at: typeof store) =>
      (await at.grants()).sort((a, b) => (a.grantId < b.grantId ? -1 : 1)).map(({ grantId }) => grantId);
    demandSame(await all(store), ["grant_1", "grant_2", "grant_3"], "the grants");
    const other = { ...sampleGrant("grant_4", "ses_1", "thread"), digest: "sha256:4" };
    await store.addGrant(other);
    demandSame(await store.grants({ digest: "sha256:4" }), [other], "the grants for a digest");
    demandSame(await store.removeGrant("grant_4"), true, "removing a grant with a digest of its own");
    demandSame(await store.grants({ digest: "sha256:4" }), [], "the grants for a digest that has none");
    for (const hostile of ["", "..", "../grants/grant_1", "grant_1.json", "grant_1\0", "__proto__"]) {
      demandSame(await store.removeGrant(hostile), false, `removing ${JSON.stringify(hostile)}`);
    }
    demandSame(await store.removeGrant("grant_2"), true, "removing a grant");
    demandSame(await store.removeGrant("grant_2"), false, "removing a grant twice");
    demandSame(await all(store), ["grant_1", "grant_3"], "the grants after a removal");
    const later = await reopen();
    demandSame(await all(later), ["grant_1", "grant_3"], "the grants after a reopening");
    const kept = (await later.grants()).find(({ grantId }) => grantId === "grant_1");
    demandSame(kept, sampleGrant("grant_1", "ses_1", "thread"), "a grant after a reopening");
  },
};

export const besideCases: readonly StoreCase[] = [artifacts, artifactNames, grants];
