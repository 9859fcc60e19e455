import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ToolError } from "@harnesskit/agent-sdk";
import { isSecretFile } from "@harnesskit/command-judge/secret-files";
import { isInside, protectedNameIn, systemErrorCode } from "@harnesskit/node-kit";
import { changedError, displayPath, notAFileError, outsideError, toFileError } from "./file-errors.ts";

const maxPathLength = 4096;
const maxNameBytes = 255;

/**
 * The one directory that the tools are confined to. Paths leave it only in canonical form: relative to the real root,
 * slash separated, without links, `.` for the root itself.
 */
export class Workspace {
  /** The real, absolute path of the directory. */
  readonly root: string;
  readonly #given: string;

  private constructor(given: string, root: string) {
    this.#given = given;
    this.root = root;
  }

  /**
   * Throws `ToolError` `tool.failed` if it is missing or not a directory, and `tool.protected_path` if it is `.git` or `.harness`
   * or lies in one: what is protected there could not be told by the names below it.
   */
  static async open(directory: string): Promise<Workspace> {
    let root: string;
    try {
      root = await realpath(directory);
      if (!(await stat(root)).isDirectory())
        throw new ToolError("tool.failed", "the workspace is not a directory");
    } catch (cause) {
      if (ToolError.isInstance(cause)) throw cause;
      throw new ToolError("tool.failed", "the workspace directory cannot be opened", { cause });
    }
    const name = protectedNameIn(root);
    if (name === undefined) return new Workspace(resolve(directory), root);
    throw new ToolError("tool.protected_path", `the workspace directory is in ${name}, where no tool works`);
  }

  /** The absolute path of a canonical one. */
  absolute(path: string): string {
    return join(this.root, path);
  }

  /** Whether a canonical path holds secrets by its names, those above the root included. */
  isSecret(path: string): boolean {
    return isSecretFile(this.absolute(path).split(sep).join("/"));
  }

  /**
   * The canonical form of a path, which need not exist. Throws `ToolError`: `tool.invalid_input` for text that is no
   * path, `tool.outside_workspace` for a path that leads out, also over links, `tool.not_a_file` for a dangling link.
   */
  async resolve(path: string): Promise<string> {
    assertPathText(path);
    const absolute = resolve(this.#given, path);
    if (!isInside(this.#given, absolute) && !isInside(this.root, absolute)) throw outsideError(path);
    const real = await this.#realPath(absolute, path);
    if (!isInside(this.root, real)) throw outsideError(path);
    const canonical = relative(this.root, real).split(sep).join("/");
    return canonical === "" ? "." : canonical;
  }

  /**
   * The absolute path of a canonical one, after making sure that it still leads where it led.
   * Throws `ToolError` `tool.changed` or `tool.outside_workspace` if it does not.
   */
  async verify(path: string): Promise<string> {
    const absolute = this.absolute(path);
    if ((await this.resolve(absolute)) !== path) throw changedError(path);
    return absolute;
  }

  /** Resolves the links of the deepest ancestor that exists and appends the rest. */
  async #realPath(absolute: string, path: string): Promise<string> {
    const missing: string[] = [];
    for (let current = absolute; ; current = dirname(current)) {
      try {
        return join(await realpath(current), ...missing);
      } catch (error) {
        const code = systemErrorCode(error);
        if (code === "ELOOP") throw notAFileError(path, "a loop of links");
        if (code !== "ENOENT" && code !== "ENOTDIR") throw toFileError(error, path);
        await this.#refuseDanglingLink(current, path);
        if (dirname(current) === current) throw toFileError(error, path);
        missing.unshift(basename(current));
      }
    }
  }

  async #refuseDanglingLink(current: string, path: string): Promise<void> {
    const target = await lstat(current)
      .then((found) => (found.isSymbolicLink() ? readlink(current) : undefined))
      .catch(() => undefined);
    if (target === undefined) return;
    const absolute = resolve(await realpath(dirname(current)), target);
    throw isInside(this.root, absolute) ? notAFileError(path, "a link to nothing") : outsideError(path);
  }
}

/** Throws `ToolError` `tool.protected_path` for a canonical path in a directory that the tools do not write to. */
export function assertWritablePath(path: string): void {
  const name = protectedNameIn(path);
  if (name === undefined) return;
  throw new ToolError("tool.protected_path", `${displayPath(path)} is in ${name}, which is not written to`);
}

function assertPathText(path: string): void {
  const refuse = (reason: string) => new ToolError("tool.invalid_input", `the path ${reason}`);
  if (path === "") throw refuse("is empty");
  if (path.length > maxPathLength) throw refuse(`is longer than ${maxPathLength} characters`);
  if (path.includes("\0")) throw refuse("contains a NUL character");
  if (/\p{Cs}/u.test(path)) throw refuse("is not well-formed Unicode");
  const names = path.split(/[/\\]/);
  if (names.some((name) => Buffer.byteLength(name) > maxNameBytes)) throw refuse("contains too long a name");
  if (process.platform === "win32" && names.some((name, index) => index > 0 && name.includes(":")))
    throw refuse("contains a colon");
}
