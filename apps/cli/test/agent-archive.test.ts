import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { create, Header, type HeaderData } from "tar";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { agentTreeLimits, copyAgent, extractArchive } from "../src/agents/copy-agent.ts";

const { maxFiles, maxBytes, maxDepth } = agentTreeLimits;

const entry = (data: HeaderData, content: Buffer = Buffer.alloc(0)): Buffer => {
  const header = new Header({ mode: 0o644, mtime: new Date(0), type: "File", size: content.length, ...data });
  header.encode();
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([header.block as Buffer, content, padding]);
};
const end = Buffer.alloc(1024);
const archive = (...entries: Buffer[]): Buffer => Buffer.concat([...entries, end]);

const extract = async (directory: string, bytes: Buffer) => {
  const file = join(directory, "agent.tgz");
  await writeFile(file, bytes);
  return extractArchive(file, join(directory, "target"));
};

describe("the archive of an agent", () => {
  it("is unpacked, with and without gzip, without the directory that npm puts around it", async () => {
    await using directory = await temporaryDirectory();
    const source = join(directory.path, "package");
    await mkdir(join(source, "lib"), { recursive: true });
    await writeFile(join(source, "a.json"), "{}");
    await writeFile(join(source, "lib", "run"), "run", { mode: 0o755 });
    const made: string[] = [];
    for (const gzip of [true, false]) {
      const file = join(directory.path, `made-${gzip}.tgz`);
      await create({ file, cwd: directory.path, gzip }, ["package"]);
      const target = await extractArchive(file, join(directory.path, `target-${gzip}`));
      expect(await readFile(join(target, "lib", "run"), "utf8")).toBe("run");
      made.push((await copyAgent(target, join(directory.path, `copy-${gzip}`))).hash);
    }
    made.push((await copyAgent(source, join(directory.path, "copy"))).hash);
    expect(new Set(made).size).toBe(1);
  });

  it("belongs to this user, and is found below ./package", async () => {
    await using directory = await temporaryDirectory();
    const bytes = archive(
      entry({ path: "./package/", type: "Directory" }),
      entry({ path: "./package/a.json", uid: 12_345, gid: 12_345 }, Buffer.from("{}")),
    );
    const target = await extract(directory.path, bytes);
    expect(await readFile(join(target, "a.json"), "utf8")).toBe("{}");
    expect((await stat(join(target, "a.json"))).uid).toBe(process.getuid?.());
  });

  const content = Buffer.from("evil");
  it.each([
    ["a path that leads out", archive(entry({ path: "../evil" }, content)), "leads out"],
    ["a path that leads out later", archive(entry({ path: "a/../../evil" }, content)), "leads out"],
    ["an absolute path", archive(entry({ path: "/tmp/evil" }, content)), "leads out"],
    ["a backslash", archive(entry({ path: "..\\evil" }, content)), "leads out"],
    ["a name that hides something", archive(entry({ path: "a\u202eb" }, content)), "cannot be shown"],
    [
      "a symbolic link",
      archive(entry({ path: "link", type: "SymbolicLink", linkpath: "/etc" })),
      "SymbolicLink",
    ],
    ["a hard link", archive(entry({ path: "link", type: "Link", linkpath: "/etc/passwd" })), "Link"],
    ["a device", archive(entry({ path: "null", type: "CharacterDevice" })), "CharacterDevice"],
    ["a FIFO", archive(entry({ path: "fifo", type: "FIFO" })), "FIFO"],
    ["too deep a path", archive(entry({ path: `${"d/".repeat(maxDepth)}f` }, content)), "deeper"],
    [
      "too many files",
      archive(...Array.from({ length: maxFiles + 1 }, (_, at) => entry({ path: `f${at}` }, content))),
      `more than ${maxFiles} files`,
    ],
    [
      "too much",
      gzipSync(
        archive(entry({ path: "big" }, randomBytes(1024)), entry({ path: "more" }, Buffer.alloc(maxBytes))),
      ),
      "more than",
    ],
    [
      "too much, packed well",
      gzipSync(archive(entry({ path: "big" }, Buffer.alloc(20_000_000)))),
      "not a valid",
    ],
    [
      "a cut archive",
      gzipSync(archive(entry({ path: "a" }, Buffer.alloc(5000)))).subarray(0, 40),
      "not a valid archive",
    ],
    ["what is no archive", Buffer.from("this is not an archive at all ".repeat(100)), "not a valid archive"],
  ])("is refused with %s", async (_, bytes, reason) => {
    await using directory = await temporaryDirectory();
    const extracting = extract(directory.path, bytes);
    await expect(extracting).rejects.toMatchObject({
      code: "agent_unsafe",
      message: expect.stringContaining(reason),
    });
    // What was unpacked before lies in a directory that goes with the installation.
    for (const name of await readdir(directory.path)) expect(["agent.tgz", "target"]).toContain(name);
    expect(await readdir(join(directory.path, "..")).then((names) => names.includes("evil"))).toBe(false);
  });
});

describe("the directory of an agent", () => {
  it("is copied with links inside of it, and refused with others", async () => {
    await using directory = await temporaryDirectory();
    const source = join(directory.path, "source");
    const copy = (name: string) => copyAgent(source, join(directory.path, name));
    await mkdir(join(source, ".git"), { recursive: true });
    await mkdir(join(source, "bin"));
    await writeFile(join(source, "a"), "a");
    await symlink("../a", join(source, "bin", "a"));
    expect(await copy("good")).toMatchObject({ files: 2, bytes: 1 });
    for (const [name, target] of [
      ["absolute", "/etc/hostname"],
      ["out", "../../outside"],
      ["nowhere", "gone"],
      ["around", "around"],
    ] as const) {
      await symlink(target, join(source, name));
      await expect(copy(name)).rejects.toMatchObject({
        code: "agent_unsafe",
        message: expect.stringContaining("link"),
      });
      await rm(join(source, name));
    }
  });

  it("has another hash with another content or name, and where a file may be run", async () => {
    await using directory = await temporaryDirectory();
    const hashOf = async (place: string, name: string, text: string, mode: number) => {
      const source = join(directory.path, `source-${place}`);
      await mkdir(source);
      await writeFile(join(source, name), text, { mode });
      return (await copyAgent(source, join(directory.path, `copy-${place}`))).hash;
    };
    const hashes = [
      await hashOf("one", "a", "text", 0o600),
      await hashOf("same", "a", "text", 0o644),
      await hashOf("content", "a", "other", 0o600),
      await hashOf("name", "b", "text", 0o600),
      await hashOf("program", "a", "text", 0o700),
    ];
    expect(hashes[1]).toBe(hashes[0]);
    expect(new Set(hashes).size).toBe(4);
  });

  it("is refused where it holds too much", async () => {
    await using directory = await temporaryDirectory();
    const source = join(directory.path, "source");
    await mkdir(source);
    await writeFile(join(source, "big"), "");
    await truncate(join(source, "big"), maxBytes + 1);
    const copying = copyAgent(source, join(directory.path, "target"));
    await expect(copying).rejects.toMatchObject({
      code: "agent_unsafe",
      message: expect.stringContaining(`more than ${maxBytes} bytes`),
    });
  });

  it("is refused with too many files, and says what to do", async () => {
    await using directory = await temporaryDirectory();
    const source = join(directory.path, "source");
    await mkdir(source);
    execFileSync("sh", ["-c", `seq 0 ${maxFiles} | xargs touch`], { cwd: source });
    await expect(copyAgent(source, join(directory.path, "target"))).rejects.toMatchObject({
      code: "agent_unsafe",
      message: `the agent holds more than ${maxFiles} files`,
      hints: expect.arrayContaining([{ to: "3", run: "harness agents install ./bundle" }]),
    });
  });
});
