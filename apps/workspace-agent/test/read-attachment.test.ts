import { execFileSync } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { AttachmentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { readAttachment } from "../src/index.ts";
import { Fixture } from "./support/fixture.ts";

const { signal } = new AbortController();

describe("readAttachment", () => {
  it("reads a file by its relative path, its absolute one, and its address", async () => {
    await using fixture = await Fixture.create();
    const { directory } = fixture;
    await fixture.put("a b/c.txt", "text");
    await symlink("c.txt", fixture.path("a b/link"));
    for (const reference of [
      "a b/c.txt",
      fixture.path("a b/c.txt"),
      pathToFileURL(fixture.path("a b/c.txt")).href,
      "a b/link",
    ]) {
      expect(String(Buffer.from(await readAttachment(reference, { directory, maxBytes: 4, signal })))).toBe(
        "text",
      );
    }
  });

  it.each([
    ["../outside/secret.txt", "attachment_not_allowed", "is outside the workspace"],
    ["leads-out", "attachment_not_allowed", "is outside the workspace"],
    ["file:///etc/passwd", "attachment_not_allowed", "is outside the workspace"],
    [".env", "attachment_not_allowed", "may hold secrets, judged by its name"],
    ["innocent", "attachment_not_allowed", "may hold secrets, judged by its name"],
    [".git/config", "attachment_not_allowed", "may hold secrets, judged by its name"],
    [
      "https://example.com/a.png",
      "attachment_not_allowed",
      "is an address: only files of the workspace are read",
    ],
    ["data:,x", "attachment_not_allowed", "is an address: only files of the workspace are read"],
    ["file://host/a", "attachment_not_found", "is not a usable file address"],
    ["fifo", "attachment_not_allowed", "is not a regular file"],
    ["folder", "attachment_not_allowed", "is not a regular file"],
    ["missing", "attachment_not_found", "does not exist in the workspace"],
    ["", "attachment_not_found", "is not a usable path"],
    ["nul\0", "attachment_not_found", "is not a usable path"],
    ["large", "attachment_too_large", "has more than 4 bytes"],
  ])("refuses %j", async (reference, code, message) => {
    await using fixture = await Fixture.create();
    const { directory } = fixture;
    await fixture.put(".env", "KEY=1");
    await fixture.put(".git/config", "[remote]");
    await fixture.put("folder/a", "a");
    await fixture.put("large", "12345");
    await symlink(join(fixture.outside, "secret.txt"), fixture.path("leads-out"));
    await symlink(".env", fixture.path("innocent"));
    execFileSync("mkfifo", [fixture.path("fifo")]);
    const error = await readAttachment(reference, { directory, maxBytes: 4, signal }).catch((cause) => cause);
    expect(AttachmentError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code, message });
  });

  it("stops where the answer is of no use any more", async () => {
    const gone = AbortSignal.abort(new RangeError("gone"));
    await expect(readAttachment("a", { directory: "/", maxBytes: 1, signal: gone })).rejects.toBeInstanceOf(
      RangeError,
    );
  });
});
