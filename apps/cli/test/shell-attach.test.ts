import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { pngBase64, recordingProvider } from "./support/recording-provider.ts";
import { say, startShellEngine } from "./support/shell-engine.ts";

describe("harness shell --attach", () => {
  it("brings files of the engine's workspace to the model, and shows what was left out and why", async () => {
    const workspace = await makeWorkspace();
    const elsewhere = await makeWorkspace();
    await writeFile(join(workspace, "a.png"), Buffer.from(pngBase64, "base64"));
    await writeFile(join(workspace, ".env"), "KEY=hunter2\n");
    await writeFile(join(elsewhere, "private.txt"), "hunter2\n");
    const { model, requests } = await recordingProvider();
    const env = { XDG_STATE_HOME: join(workspace, "state") };
    const engine = startHarness(["engine", "--model", model], { cwd: workspace, env });
    await engine.reports(/listening on /);
    const refused = [".env", join(elsewhere, "private.txt"), "https://example.com/b.png", "missing.png"];
    const attach = ["a.png", ...refused].flatMap((reference) => ["--attach", reference]);
    const { code, stdout, stderr } = await harness(["shell", ...attach, "what is this?"], {
      cwd: elsewhere,
      env,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replace(/\s+/g, " ")).toContain(
      "The model was not given: .env may hold secrets, judged by its name; private.txt is outside the workspace; " +
        "https://example.com/b.png is an address: only files of the workspace are read; missing.png does not exist in the workspace.",
    );
    expect(stdout).toContain("A red square.");
    expect(requests.at(-1)?.at(-1)).toMatchObject({
      role: "user",
      content: [
        { type: "text", text: "what is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${pngBase64}` } },
        {},
        {},
        {},
        {},
      ],
    });
    expect(JSON.stringify(requests)).not.toContain("hunter2");
    // The next message has none, and the conversation still has the picture.
    await harness(["shell", "and now?"], { cwd: elsewhere, env });
    expect(requests.at(-1)?.at(-1)?.content).toBe("and now?");
    expect(JSON.stringify(requests.at(-1))).toContain(pngBase64);
  });

  it("declares the feature with what is attached, names what an engine does not take, and sends no state of the system", async () => {
    const cwd = await makeWorkspace();
    const asked: unknown[] = [];
    const engine = await startShellEngine(cwd, {
      look: ({ attachments, environment, shellCapabilities }) => {
        const declared = shellCapabilities["openharness.attachments.upload"];
        asked.push({ attachments, declared, environment });
        return [say("Looked.")];
      },
    });
    const env = { XDG_STATE_HOME: join(cwd, "state") };
    const args = ["shell", "--engine", engine.url, "--token-file", engine.tokenFile];
    const first = await harness([...args, "--attach", "x/a.png", "look"], { cwd, env });
    expect(first).toMatchObject({ code: 0, stdout: "Looked.\n" });
    expect(first.stderr).toMatch(
      /^harness shell: the engine does not offer openharness\.attachments\.upload \(.*\); not taken: a\.png\n$/,
    );
    expect(await harness([...args, "look"], { cwd, env })).toMatchObject({ code: 0, stderr: "" });
    const lines = await harness([...args, "--attach", "app:7"], { cwd, env, input: "look\nlook\n" });
    expect(lines.code).toBe(0);
    expect(asked).toEqual([
      { attachments: [{ ref_id: "x/a.png", filename: "a.png" }], declared: true },
      { attachments: [] },
      { attachments: [{ uri: "app:7" }], declared: true },
      { attachments: [], declared: true },
    ]);
    const empty = await harness([...args, "--attach", " ", "look"], { cwd, env });
    expect(empty.code).toBe(2);
    expect(empty.stderr).toContain("--attach: a reference must not be empty");
  });
});
