import { describe, expect, it } from "vitest";
import { thread } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

describe("artifacts of threads", () => {
  it("are read in parts as they were written", async () => {
    await using schema = await newSchema();
    const { threads } = await schema.open();
    await threads.create(thread("ses_1"));
    await threads.lease("ses_1");
    const text = `${"é🙂".repeat(60_000)}!`;
    for (const name of ["b.txt", "a.txt"]) {
      const writer = await threads.openArtifact("ses_1", name);
      for (let part = 0; part < 3; part++) await writer.write(text);
      await writer.close();
    }
    await (await threads.openArtifact("ses_1", "empty")).close();
    const read = async (id: string, name: string) => {
      const parts: Uint8Array[] = [];
      for await (const part of threads.readArtifact(id, name)) parts.push(part);
      return parts;
    };
    const parts = await read("ses_1", "a.txt");
    expect(parts.length).toBeGreaterThan(1);
    expect(Buffer.concat(parts).toString("utf8")).toBe(text.repeat(3));
    expect(await read("ses_1", "empty")).toEqual([]);
    for (const [id, name] of [
      ["ses_1", "none"],
      ["ses_2", "a.txt"],
      ["ses_1\0", "a\0'\ud800"],
    ] as const) {
      expect(await read(id, name)).toEqual([]);
    }
  });
});
