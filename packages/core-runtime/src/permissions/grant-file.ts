import { type BigIntStats, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  acquireFileLock,
  FileLockError,
  makeDirectory,
  privatePathProblem,
  readOwnFile,
  removeTemporaries,
  systemErrorCode,
  UnsafeFileError,
  writeFileAtomic,
} from "@harnesskit/node-kit";
import { displayText, HarnessError } from "@harnesskit/wire";
import * as z from "zod";
import { type CoreGrant, CoreGrantSchema } from "./grant.ts";
import { type GrantEdit, type GrantLimits, type GrantStore, grantLimits, keptGrants } from "./grant-store.ts";

export type RecordFileErrorCode =
  /** It is not what such a file holds. `place` says where. */
  | "record_file_invalid"
  /** It, or its directory, is a link, of another kind, another user's, or can be written by others. */
  | "record_file_unsafe"
  /** It has more bytes or records than allowed. */
  | "record_file_too_large"
  /** Another process holds its lock for too long. */
  | "record_file_locked"
  /** The system refuses to read or write it. */
  | "record_file_unavailable";

/** A file of grants that cannot be used. Nothing is granted by it. */
export class RecordFileError extends HarnessError<RecordFileErrorCode> {
  static override readonly brand = "RecordFileError";
  constructor(
    code: RecordFileErrorCode,
    readonly path: string,
    problem: string,
    /** The field that is wrong, such as `grants.3.until`; empty where it is the file. */
    readonly place = "",
    options?: { readonly cause?: unknown },
  ) {
    super(code, `${displayText(path, { maxLength: 300 })} ${problem}`, options);
  }
}

/** The code of what a store rejected and the place in its file, for callers: without the path. */
export const recordFault = (error: unknown): string => {
  const code = HarnessError.isInstance(error) ? error.code : "unknown";
  return RecordFileError.isInstance(error) && error.place !== "" ? `${code} at ${error.place}` : code;
};

/** What reading, locking or writing the file threw, as a {@link RecordFileError}; also what an edit threw. */
const toRecordFileError = (path: string, cause: unknown): HarnessError => {
  const made = (code: RecordFileErrorCode, problem: string) =>
    new RecordFileError(code, path, problem, "", { cause });
  if (UnsafeFileError.isInstance(cause)) {
    const isLarge = cause.reason === "too_large";
    return made(isLarge ? "record_file_too_large" : "record_file_unsafe", cause.problem);
  }
  if (FileLockError.isInstance(cause)) {
    return made("record_file_locked", `cannot be changed: ${cause.message}`);
  }
  if (HarnessError.isInstance(cause)) return cause;
  const why = systemErrorCode(cause) ?? "unknown";
  return made("record_file_unavailable", `cannot be read or written (${why})`);
};

const FileSchema = z.strictObject({ version: z.literal(1), grants: z.array(CoreGrantSchema) });

const shortText = (text: string): string => displayText(text, { maxLength: 200 });

/** Throws a {@link RecordFileError} (`record_file_invalid`) that names the place. */
const grantsFromBytes = (path: string, bytes: Uint8Array): readonly CoreGrant[] => {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new RecordFileError("record_file_invalid", path, "is wrong: it is not JSON in UTF-8");
  }
  const { data, error } = FileSchema.safeParse(value);
  if (data) return data.grants;
  const [issue] = error.issues;
  const place = shortText((issue?.path ?? []).map(String).join("."));
  const problem = `is wrong${place && ` at ${place}`}: ${shortText(issue?.message ?? "")}`;
  throw new RecordFileError("record_file_invalid", path, problem, place);
};

const sortKey = ({ agent_id, permission, granted_at, id }: CoreGrant): string =>
  `${agent_id} ${permission} ${granted_at} ${id}`;

/** Options of a store in a file. */
export interface FileStoreOptions {
  /** The path of the file; its directory is created with mode 0700. */
  readonly path: string;
  /** @default see each limit */
  readonly limits?: Partial<GrantLimits> | undefined;
}

/** Grants in one private JSON file (0600), sorted, which is replaced as a whole under a lock beside it. */
export class GrantFile implements GrantStore {
  readonly #path: string;
  readonly #lockPath: string;
  readonly #limits: GrantLimits;
  /** What was read last, and what told that state of the file from others: each change puts another file in its place. */
  #seen: { readonly print: string; readonly items: readonly CoreGrant[] } | undefined;
  #changes: Promise<unknown> = Promise.resolve();

  constructor({ path, limits }: FileStoreOptions) {
    this.#path = resolve(path);
    this.#lockPath = `${this.#path}.lock`;
    this.#limits = grantLimits.resolve(limits);
  }

  list(): readonly CoreGrant[] | Promise<readonly CoreGrant[]> {
    const found = this.#look();
    return this.#seen?.print === printOf(found) ? this.#seen.items : this.#guard(() => this.#read(found));
  }

  change<Result>(edit: (items: readonly CoreGrant[]) => GrantEdit<Result>): Promise<Result> {
    const done = this.#changes.then(() => this.#guard(() => this.#change(edit)));
    this.#changes = done.catch(() => {});
    return done;
  }

  async #change<Result>(edit: (items: readonly CoreGrant[]) => GrantEdit<Result>): Promise<Result> {
    const { maxRecords, maxFileBytes, lockTimeoutMs } = this.#limits;
    await makeDirectory(dirname(this.#path));
    this.#look();
    const lock = await acquireFileLock(this.#lockPath, { waitMs: lockTimeoutMs });
    try {
      const { items, result } = edit(await this.#read(this.#look()));
      if (!items) return result;
      const grants = [...keptGrants(items, maxRecords)].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
      const text = `${JSON.stringify({ version: 1, grants }, null, 2)}\n`;
      if (Buffer.byteLength(text) > maxFileBytes) {
        throw new RecordFileError("record_file_too_large", this.#path, `would exceed ${maxFileBytes} bytes`);
      }
      await removeTemporaries(this.#path);
      await writeFileAtomic(this.#path, text);
      return result;
    } finally {
      await lock.release();
    }
  }

  /** The file as it is now, its own and its directory's rights checked; undefined where it does not exist. */
  #look(): BigIntStats | undefined {
    try {
      const found = lstatSync(this.#path, { bigint: true, throwIfNoEntry: false });
      const directory = lstatSync(dirname(this.#path), { throwIfNoEntry: false });
      const problem =
        (found && privatePathProblem(found, { kind: "file" })) ??
        (directory && privatePathProblem(directory, { kind: "directory" }));
      if (problem !== undefined) throw new RecordFileError("record_file_unsafe", this.#path, problem);
      return found;
    } catch (error) {
      throw toRecordFileError(this.#path, error);
    }
  }

  /** Of what is read while the file changes, the older state counts: it is read again. */
  async #read(found: BigIntStats | undefined): Promise<readonly CoreGrant[]> {
    const { maxFileBytes: maxBytes, maxRecords } = this.#limits;
    const read = found ? grantsFromBytes(this.#path, await readOwnFile(this.#path, { maxBytes })) : [];
    if (read.length > maxRecords) {
      throw new RecordFileError("record_file_too_large", this.#path, `has more than ${maxRecords} grants`);
    }
    const items = keptGrants(read, maxRecords);
    this.#seen = { print: printOf(found), items };
    return items;
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw toRecordFileError(this.#path, error);
    }
  }
}

const printOf = (found: BigIntStats | undefined): string =>
  found ? [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":") : "absent";
