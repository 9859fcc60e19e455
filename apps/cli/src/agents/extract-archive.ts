import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { openOwnFile, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { displayText } from "@harnesskit/wire";
import { Parser, type ReadEntry } from "tar";
import { CliError } from "../cli-error.ts";
import { oneLine } from "../terminal/text.ts";
import type { AgentTreeLimits } from "./agent-limits.ts";
import { TreeMeter, TreeWriter, unsafeAgent } from "./agent-tree.ts";

interface Extracted {
  readonly path: string;
  readonly isExecutable: boolean;
  readonly chunks: Buffer[];
}

const fileTypes = new Set(["File", "OldFile", "ContiguousFile"]);
/** Headers and padding of an archive, for each file. */
const overheadBytes = 4096;

/** Lets so many bytes pass: what is packed may be a thousand times as large. */
const boundedBytes = (maxBytes: number): Transform => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(unsafeAgent(`the archive holds more than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
};

/** Collects the files of an archive. The first thing that is unsafe ends it. */
class Collector {
  readonly files: Extracted[] = [];
  readonly #meter: TreeMeter;
  #failure: unknown;

  constructor(limits: AgentTreeLimits) {
    this.#meter = new TreeMeter(limits);
  }

  readonly take = (entry: ReadEntry): void => {
    try {
      if (this.#failure === undefined) this.#take(entry);
    } catch (error) {
      this.#failure = error;
    }
    if (this.#failure !== undefined) entry.resume();
  };

  assertSafe(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #take(entry: ReadEntry): void {
    const path = entry.path.replace(/^(\.\/)+/, "").replace(/\/$/, "");
    if (entry.type === "Directory") {
      if (path !== "" && path !== ".") this.#meter.path(path);
      entry.resume();
      return;
    }
    if (!fileTypes.has(entry.type)) {
      throw unsafeAgent(
        `${oneLine(path)} of the archive is a ${oneLine(entry.type)}: only files and directories are taken`,
      );
    }
    this.#meter.path(path);
    const chunks: Buffer[] = [];
    this.files.push({ path, chunks, isExecutable: ((entry.mode ?? 0) & 0o111) !== 0 });
    entry.on("data", (chunk: Buffer) => {
      try {
        if (this.#failure !== undefined) return;
        this.#meter.bytes(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        this.#failure = error;
      }
    });
  }
}

const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;
const isPacked = (head: Buffer): boolean =>
  isGzip(head) || (head.length >= 4 && head.readUInt32BE(0) === 0x28b52ffd);

const unreadableArchive = (path: string, cause: unknown): CliError => {
  const why = UnsafeFileError.isInstance(cause)
    ? cause.problem
    : `cannot be read (${systemErrorCode(cause) ?? "unknown"})`;
  return unsafeAgent(`${oneLine(path)} ${why}`);
};

const readArchive = async (path: string, limits: AgentTreeLimits): Promise<readonly Extracted[]> => {
  const file = await openOwnFile(path, { followLinks: true, maxBytes: limits.maxArchiveBytes }).catch(
    (cause) => {
      throw unreadableArchive(path, cause);
    },
  );
  try {
    const head = Buffer.alloc(2);
    await file.read(head, 0, 2, 0);
    const collector = new Collector(limits);
    const parser = new Parser({ strict: true, onReadEntry: collector.take });
    const source = file.createReadStream({ start: 0, autoClose: false });
    const bound = boundedBytes(limits.maxBytes + limits.maxFiles * overheadBytes);
    const parsed = new Promise<void>((resolve, reject) => {
      parser.on("end", resolve);
      parser.on("error", reject);
    });
    let isFirst = true;
    const guard = new Transform({
      transform(chunk: Buffer, _, done) {
        try {
          // The parser would unpack it by itself, beyond the bound.
          if (isFirst && isPacked(chunk)) throw unsafeAgent("the archive is packed twice");
          isFirst = false;
          parser.write(chunk);
          collector.assertSafe();
          done();
        } catch (error) {
          done(error as Error);
        }
      },
      flush(done) {
        parser.end();
        parsed.then(() => done(), done);
      },
    });
    parsed.catch((error) => guard.destroy(error as Error));
    await (isGzip(head) ? pipeline(source, createGunzip(), bound, guard) : pipeline(source, bound, guard));
    collector.assertSafe();
    return collector.files;
  } catch (error) {
    if (CliError.isInstance(error)) throw error;
    const why = displayText(error instanceof Error ? error.message : String(error), { maxLength: 200 });
    throw unsafeAgent(`${oneLine(path)} is not a valid archive: ${why}`);
  } finally {
    await file.close();
  }
};

/** What `npm pack` puts everything into: one directory, which is left out. */
const commonDirectory = (files: readonly Extracted[]): string => {
  const [first = ""] = files[0]?.path.split("/") ?? [];
  const prefix = `${first}/`;
  return files.every(({ path }) => path.startsWith(prefix)) ? prefix : "";
};

/**
 * Unpacks a tar archive, plain or with gzip. Rejects with a `CliError` `agent_unsafe` for links, devices, paths that lead out,
 * what is not a valid archive, and beyond the limits; then nothing was written.
 */
export const extractArchive = async (
  path: string,
  target: string,
  limits: AgentTreeLimits,
): Promise<void> => {
  const files = await readArchive(path, limits);
  const prefix = commonDirectory(files);
  const writer = new TreeWriter(target);
  for (const file of files) {
    await writer.file(file.path.slice(prefix.length), Buffer.concat(file.chunks), file.isExecutable);
  }
};
