import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./support.ts";

const sources = (room: string): readonly string[] => {
  const folder = ["packages", "apps"].map((kind) => join(root, kind, room, "src")).find(existsSync);
  if (folder === undefined) throw new RangeError(`there is no ${room}`);
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
};

it("each file that a path through the layers names is in its package", () => {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const missing: string[] = [];
  for (const [, path = ""] of page.matchAll(/```\n([^`]*)```/g)) {
    let room = "";
    for (const line of path.split("\n")) {
      room = /^([a-z-]+) {2,}/.exec(line)?.[1] ?? room;
      if (room === "") continue;
      const inWire = room === "sender" || room === "receiver";
      for (const [file] of line.matchAll(/(?<=[ (])[\w/-]+\.ts/g)) {
        const known = sources(inWire ? "wire" : room);
        if (!known.some((each) => each === file || each.endsWith(`/${file}`)))
          missing.push(`${room}: ${file}`);
      }
    }
  }
  expect(missing).toEqual([]);
});
