import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  acquireFileLock,
  FileLockError,
  ifPresent,
  makeDirectory,
  readOwnFile,
  sha256Digest,
  sha256Hex,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import * as z from "zod";
import { checkToolPinsOptions } from "../option-names.ts";

const maxPinBytes = 32 * 1024 * 1024;
const maxDeclarationLength = 64 * 1024;
const maxTools = 1024;
/** Declarations that are accepted at one time; of more the oldest are asked about again. */
const maxAccepted = 4 * maxTools;
const lockWaitMs = 5000;

const DeclarationSchema = z.object({ digest: z.string(), declaration: z.string() });
const PinsSchema = z.object({
  version: z.literal(1),
  name: z.string(),
  title: z.string(),
  /** What was accepted, by the tool's name: several declarations of one, where the server declares it by the client's capabilities. */
  tools: z.array(z.tuple([z.string(), DeclarationSchema])),
  /** What was declared otherwise since, and waits to be accepted. */
  waiting: z.array(z.tuple([z.string(), DeclarationSchema])),
  /** Digests of what waits and was refused: it is not asked about again. */
  refused: z.array(z.string()).default([]),
});
type Pins = z.infer<typeof PinsSchema>;

/** A tool as its server declares it. */
export type ToolDeclaration = JsonObject & { readonly name: string };

/** Whether a tool may be offered: it is as it was accepted, or it waits for you. */
export type PinState = "accepted" | "changed" | "new" | "unusable";

/** A tool that is not offered before it is accepted. */
export interface WaitingTool {
  readonly server: string;
  readonly title: string;
  readonly tool: string;
  readonly digest: string;
  /** The declaration that waits, as JSON. Untrusted. */
  readonly declaration: string;
  /** The one that was accepted last; undefined for a new tool. */
  readonly accepted: string | undefined;
  /** Whether a human has refused it. */
  readonly isRefused: boolean;
}

/**
 * `pins_unreadable`: the file with the accepted tools cannot be read, so that no tool is known to be the same. `pins_locked`:
 * another process changes the file and does not end, or its lock names no process.
 */
export class PinsError extends HarnessError<"pins_unreadable" | "pins_locked"> {
  static override readonly brand = "PinsError";
}

/** The whole declaration counts: description, schemas, annotations, title. */
const declare = (tool: ToolDeclaration): { digest: string; declaration: string } | undefined => {
  try {
    const declaration = canonicalJson(tool);
    if (declaration.length > maxDeclarationLength) return undefined;
    return { digest: sha256Digest(declaration), declaration };
  } catch {
    // A lone surrogate, for example: it has no one form that could be compared.
    return undefined;
  }
};

const readPins = async (path: string): Promise<Pins | undefined> => {
  try {
    const bytes = await ifPresent(readOwnFile(path, { maxBytes: maxPinBytes }));
    return bytes && PinsSchema.parse(JSON.parse(bytes.toString("utf8")));
  } catch (cause) {
    const message = `${path} cannot be read: move it away, and review the tools anew`;
    throw new PinsError("pins_unreadable", message, { cause });
  }
};

const writePins = (path: string, pins: Pins): Promise<void> =>
  writeFileAtomic(path, `${JSON.stringify(pins, null, 1)}\n`);

const locked = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  const lock = await acquireFileLock(`${path}.lock`, { waitMs: lockWaitMs }).catch((cause: unknown) => {
    if (!FileLockError.isInstance(cause)) throw cause;
    throw new PinsError("pins_locked", cause.message, { cause });
  });
  try {
    return await work();
  } finally {
    await lock.release();
  }
};

export interface ToolPinsOptions {
  /** The directory of the files, such as `~/.local/state/harnesskit/guard/mcp`; it is made with mode 0700. */
  readonly directory: string;
  /** What the server is called. */
  readonly name: string;
  /** What tells servers apart: the command or the URL. */
  readonly place: readonly string[];
}

/**
 * The tools of one MCP server as they were accepted. In the first session with a server, what it declares first is accepted. Later,
 * a tool that is new or declared otherwise waits until `acceptTool`. What was accepted stays so: a server may declare a tool by the client's
 * capabilities, and is used by several clients.
 */
export class ToolPins {
  readonly #path: string;
  readonly #directory: string;
  readonly #empty: Pins;
  readonly #isFirst: boolean;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ directory, name, place }: ToolPinsOptions, path: string, isFirst: boolean) {
    this.#directory = directory;
    this.#path = path;
    this.#isFirst = isFirst;
    const title = place.join(" ").slice(0, 1000);
    this.#empty = { version: 1, name, title, tools: [], waiting: [], refused: [] };
  }

  /** Compares declarations with those that were accepted, and keeps what waits. Rejects with a `PinsError`, or as the system does. */
  check(tools: readonly ToolDeclaration[]): Promise<readonly PinState[]> {
    const checked = this.#turn.then(() => this.#check(tools));
    this.#turn = checked.catch(() => {});
    return checked;
  }

  /** The tools that wait. Rejects with a `PinsError`. */
  async waiting(): Promise<readonly WaitingTool[]> {
    const pins = await readPins(this.#path);
    return pins ? waitingIn(pins) : [];
  }

  /** Accepts the declarations of this server with these digests. False where none of them waits. Rejects with a `PinsError`. */
  accept(digests: readonly string[]): Promise<boolean> {
    return acceptIn(this.#path, digests);
  }

  /** Keeps that declarations that wait were refused. Rejects with a `PinsError`. */
  refuse(digests: readonly string[]): Promise<void> {
    return locked(this.#path, async () => {
      const pins = await readPins(this.#path);
      if (pins)
        await writePins(this.#path, { ...pins, refused: [...new Set([...pins.refused, ...digests])] });
    });
  }

  async #check(tools: readonly ToolDeclaration[]): Promise<readonly PinState[]> {
    const found = tools.map(declare);
    const stored = await readPins(this.#path);
    const read = compare(tools, found, stored ?? this.#empty, this.#isFirst);
    if (read.next === undefined) return read.states;
    await makeDirectory(this.#directory);
    return locked(this.#path, async () => {
      const current = (await readPins(this.#path)) ?? this.#empty;
      const { states, next } = compare(tools, found, current, this.#isFirst);
      if (next) await writePins(this.#path, next);
      return states;
    });
  }
}

/** Opens the pins of one server. Rejects with a `PinsError`. */
export const openToolPins = async (options: ToolPinsOptions): Promise<ToolPins> => {
  checkToolPinsOptions(options);
  const path = join(
    options.directory,
    `${sha256Hex(canonicalJson([options.name, options.place])).slice(0, 24)}.json`,
  );
  return new ToolPins(options, path, (await readPins(path)) === undefined);
};

/** The state of each tool, and the pins to be stored where something changes. */
const compare = (
  tools: readonly ToolDeclaration[],
  found: readonly ({ digest: string; declaration: string } | undefined)[],
  pins: Pins,
  isFirst: boolean,
): { readonly states: readonly PinState[]; readonly next: Pins | undefined } => {
  const accepted = [...pins.tools];
  const names = new Set(accepted.map(([name]) => name));
  const waiting = new Map(pins.waiting);
  let isChanged = false;
  const states = tools.map(({ name }, at): PinState => {
    const declared = found[at];
    if (declared === undefined) return "unusable";
    if (accepted.some(([known, { digest }]) => known === name && digest === declared.digest)) {
      isChanged = waiting.delete(name) || isChanged;
      return "accepted";
    }
    const isKnown = names.has(name);
    if (!isKnown && isFirst && accepted.length < maxTools) {
      accepted.push([name, declared]);
      names.add(name);
      isChanged = true;
      return "accepted";
    }
    if (waiting.get(name)?.digest !== declared.digest && (waiting.has(name) || waiting.size < maxTools)) {
      waiting.set(name, declared);
      isChanged = true;
    }
    return isKnown ? "changed" : "new";
  });
  if (!isChanged) return { states, next: undefined };
  const digests = new Set([...waiting.values()].map(({ digest }) => digest));
  const refused = pins.refused.filter((digest) => digests.has(digest));
  return { states, next: { ...pins, tools: accepted, waiting: [...waiting], refused } };
};

const filesOf = async (directory: string): Promise<string[]> => {
  const names = (await ifPresent(readdir(directory))) ?? [];
  return names.filter((name) => /^[0-9a-f]{24}\.json$/.test(name)).map((name) => join(directory, name));
};

const waitingIn = ({ name: server, title, tools, waiting, refused }: Pins): WaitingTool[] => {
  const accepted = new Map(tools);
  return waiting.map(([tool, { digest, declaration }]) => ({
    server,
    title,
    tool,
    digest,
    declaration,
    accepted: accepted.get(tool)?.declaration,
    isRefused: refused.includes(digest),
  }));
};

/** The tools of all servers that wait to be accepted. Rejects with a `PinsError`. */
export const waitingTools = async (directory: string): Promise<readonly WaitingTool[]> => {
  const all: WaitingTool[] = [];
  for (const path of await filesOf(directory)) {
    const pins = await readPins(path);
    if (pins) all.push(...waitingIn(pins));
  }
  return all;
};

/** Whether a declaration with one of these digests waited in the file; they are accepted then, beside those before. */
const acceptIn = (path: string, digests: readonly string[]): Promise<boolean> =>
  locked(path, async () => {
    const pins = await readPins(path);
    const isChosen = ([, { digest }]: Pins["waiting"][number]) => digests.includes(digest);
    const chosen = pins?.waiting.filter(isChosen) ?? [];
    if (pins === undefined || chosen.length === 0) return false;
    const tools = [...pins.tools, ...chosen].slice(-maxAccepted);
    await writePins(path, { ...pins, tools, waiting: pins.waiting.filter((one) => !isChosen(one)) });
    return true;
  });

/**
 * Accepts what was reviewed: the declaration with this digest. A running proxy offers it from its next list on. Resolves
 * with the tools that it accepted, an empty list for a digest that does not wait. Rejects with a `PinsError`.
 */
export const acceptTool = async (directory: string, digest: string): Promise<readonly WaitingTool[]> => {
  const wanted = (await waitingTools(directory)).filter((one) => one.digest === digest);
  for (const path of wanted.length === 0 ? [] : await filesOf(directory)) await acceptIn(path, [digest]);
  return wanted;
};
