import { join, resolve } from "node:path";
import { readOwnFile, sha256Digest, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { AGENT_MANIFEST_FILE, type AgentManifest, AgentManifestSchema } from "@harnesskit/protocol/runtime";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { ManifestError } from "./errors.ts";

/** A manifest as it was when it was read. */
export interface ReadManifest {
  /** Absolute. */
  readonly directory: string;
  readonly manifest: AgentManifest;
  /** `sha256:` and the hex digest of the file's bytes. */
  readonly hash: string;
}

const maxManifestBytes = 262_144;
/** A field that needs more than this to be named is named in part. */
const maxFieldLength = 200;

const openError = (path: string, cause: unknown): ManifestError => {
  const code = systemErrorCode(cause);
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new ManifestError("manifest_not_found", path, "does not exist: pass the directory of an agent");
  }
  if (UnsafeFileError.isInstance(cause)) {
    const { reason, problem } = cause;
    return new ManifestError(
      reason === "too_large" ? "manifest_too_large" : "manifest_unsafe",
      path,
      problem,
    );
  }
  return new ManifestError("manifest_unsafe", path, `cannot be opened (${code ?? "unknown"})`);
};

const readFileSafely = async (path: string): Promise<Buffer> => {
  try {
    return await readOwnFile(path, { maxBytes: maxManifestBytes });
  } catch (cause) {
    throw openError(path, cause);
  }
};

const parseJson = (path: string, bytes: Buffer): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ManifestError("manifest_invalid", path, "is not JSON in UTF-8");
  }
};

const toField = (path: readonly PropertyKey[]): string =>
  displayText(path.map(String).join("."), { maxLength: maxFieldLength });

const toManifest = (path: string, value: unknown): AgentManifest => {
  const parsed = AgentManifestSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = toField(issue?.path ?? []);
    const problem = displayText(issue?.message ?? "", { maxLength: 300 });
    const reason = field === "" ? `is wrong: ${problem}` : `is wrong at ${field}: ${problem}`;
    throw new ManifestError("manifest_invalid", path, reason, field === "" ? undefined : field);
  }
  const nul = parsed.data.command.findIndex((word) => word.includes("\0"));
  if (nul === -1) return parsed.data;
  const field = `command.${nul}`;
  throw new ManifestError("manifest_invalid", path, `is wrong at ${field}: it holds a NUL`, field);
};

/**
 * Reads `opensentience.agent.json` in the directory: a regular file (no link is followed), at most 262144 bytes of
 * JSON that fits the manifest's schema.
 *
 * Rejects with a {@link ManifestError}: `manifest_not_found`, `manifest_unsafe`, `manifest_too_large` or
 * `manifest_invalid`, the last with the field that is wrong.
 */
export const readManifest = async (directory: string): Promise<ReadManifest> => {
  if (directory.includes("\0")) throw new InvalidArgumentError("the path of a directory holds no NUL");
  const absolute = resolve(directory);
  const path = join(absolute, AGENT_MANIFEST_FILE);
  const bytes = await readFileSafely(path);
  const manifest = toManifest(path, parseJson(path, bytes));
  return {
    directory: absolute,
    manifest,
    hash: sha256Digest(bytes),
  };
};
