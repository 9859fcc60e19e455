import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";
import { pngBase64, recordingProvider } from "./support/recording-provider.ts";

describe("harness run --file", () => {
  it("gives the model an image as an image and a text as text, and shows both in the thread", async () => {
    const cwd = await makeWorkspace();
    await mkdir(join(cwd, "img"));
    await writeFile(join(cwd, "img", "a.png"), Buffer.from(pngBase64, "base64"));
    await writeFile(join(cwd, "notes.txt"), "buy milk\n");
    const { model, requests } = await recordingProvider();
    const args = [
      "run",
      "--no-policy",
      "--model",
      model,
      "--file",
      "img/a.png",
      "--file",
      join(cwd, "notes.txt"),
    ];
    const { code, stdout, stderr } = await harness([...args, "what is this?"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain("A red square.");
    expect(requests).toHaveLength(1);
    expect(requests[0]?.at(-1)).toEqual({
      role: "user",
      content: [
        { type: "text", text: "what is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${pngBase64}` } },
        { type: "text", text: "[attached file: notes.txt (text/plain)]\nbuy milk\n" },
      ],
    });
    const thread = /thread (ses_[0-9a-f]{32})/.exec(stderr)?.[1] ?? "";
    expect((await harness(["threads", "show", thread], { cwd })).stdout).toContain("[file img/a.png]");
  });

  it.each([
    [".env", "attachment_not_allowed", ".env may hold secrets, judged by its name"],
    ["/etc/hostname", "attachment_not_allowed", "/etc/hostname is outside the workspace"],
    ["../x.png", "attachment_not_allowed", "x.png is outside the workspace"],
    ["blob.bin", "attachment_unsupported", "blob.bin is of a type that the model is not given"],
  ])("refuses %s with the reason, and asks no model", async (file, code, reason) => {
    const above = await makeWorkspace();
    const cwd = join(above, "inner");
    await mkdir(cwd);
    await writeFile(join(above, "x.png"), "");
    await writeFile(join(cwd, ".env"), "KEY=1\n");
    await writeFile(join(cwd, "blob.bin"), Buffer.from([0, 1, 2, 255]));
    const { model, requests } = await recordingProvider();
    const args = ["run", "--no-policy", "--model", model, "--file", file];
    const shown = await harness([...args, "look"], { cwd });
    expect(shown).toMatchObject({ code: 1, stdout: "" });
    expect(shown.stderr).toContain(reason);
    const { stdout } = await harness([...args, "--json", "look"], { cwd });
    expect(jsonLines(stdout).find(({ type }) => type === "turn.error")?.data).toMatchObject({ code });
    expect(requests).toEqual([]);
  });

  it("is a usage error for a file that is not there, and makes no thread", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["run", "--no-policy", "--file", "nofile", "hi"], { cwd });
    expect(end).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("nofile does not exist"),
    });
    const { stdout } = await harness(["threads", "list", "--json"], { cwd });
    expect(stdout).toBe('{"threads":[],"chats":[]}\n');
  });

  it("needs a prompt", async () => {
    const cwd = await makeWorkspace();
    const { code, stderr } = await harness(["run", "--thread", "ses_x", "--file", "a.png"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain("--file needs a prompt");
  });
});
