import type { JsonObject } from "@harnesskit/protocol/envelope";
import * as z from "zod";
import {
  commandInputDeclaration,
  commandStopDeclaration,
  commandsDeclaration,
} from "./command-declarations.ts";
import {
  declare,
  ExpectedSchema,
  type ToolDeclaration,
  type ToolEffects,
  WellFormedSchema,
} from "./declare.ts";
import { maxCommandTimeoutMs, maxGlobLength, maxPatternLength } from "./limits.ts";

export { EndedCommandsSchema, endedCommandsToolName } from "./command-declarations.ts";
export type { Expected, ToolDeclaration, ToolEffects } from "./declare.ts";

// For a program that offers the tools and calls them over a core: what it shows and checks, without the tools' code.

/** The id of the agent, as in its manifest: the part of its tools' ids before the slash. */
export const workspaceAgentId = "harnesskit.workspace";

/** The variable that carries the further variables of commands to the agent's process: a JSON object of names and values. */
export const passedVariablesName = "HARNESS_PASSED_VARIABLES";

/** A path as a model writes it. `Workspace.resolve` checks what it means. */
const PathSchema = z
  .string()
  .min(1)
  .max(4096)
  .describe("Path relative to the workspace, or absolute inside it");

const AllFilesSchema = z
  .boolean()
  .exactOptional()
  .describe("Search also the files that .gitignore excludes, and node_modules");

// Linux takes at most 128 KiB in one argument of a program.
const maxCommandBytes = 120_000;

export const bashDeclaration = declare(
  "bash",
  "execute",
  "Runs a shell command that starts in the workspace directory. There is NO sandbox: the command has the rights of " +
    "the user who runs this program, in the whole system and network. Standard input is empty, few environment " +
    "variables are passed on, and processes that are left in the background are ended when the shell ends: start a " +
    "server or a watcher with `background` instead. Long output keeps its start and end.",
  {
    command: WellFormedSchema.min(1)
      .refine((command) => !command.includes("\0"), { error: "contains a NUL character" })
      .refine((command) => Buffer.byteLength(command) <= maxCommandBytes, {
        error: `has more than ${maxCommandBytes} bytes`,
      })
      .describe("The command line, for bash where there is one, otherwise sh"),
    timeoutMs: z
      .int()
      .min(1)
      .max(maxCommandTimeoutMs)
      .exactOptional()
      .describe(
        "Time after which the command is ended, in milliseconds; 120000 if left out and not set up otherwise, none in the background",
      ),
    background: z
      .boolean()
      .exactOptional()
      .describe(
        "Start it and go on: it outlives this call and this turn. Returns an `id` for `commands`, `command_input` and `command_stop`",
      ),
  },
);
export type BashInput = z.infer<typeof bashDeclaration.input>;

export const readDeclaration = declare(
  "read",
  "read",
  "Reads a text file of the workspace. Returns its lines as they are; a long file is cut and marked `truncated`: " +
    "continue with `offset`. Binary files are refused.",
  {
    path: PathSchema,
    offset: z
      .int()
      .min(1)
      .exactOptional()
      .describe("Number of the first line to return, from 1; 1 if left out"),
    limit: z.int().min(1).exactOptional().describe("Number of lines to return; all if left out"),
  },
);
export type ReadInput = z.infer<typeof readDeclaration.input>;

export const writeDeclaration = declare(
  "write",
  "write",
  "Writes a text file of the workspace: creates it, with missing directories, or replaces its whole content. " +
    "Nothing in .git or .harness can be written.",
  {
    path: PathSchema,
    content: WellFormedSchema.describe("The whole new content of the file"),
  },
);
export type WriteInput = z.infer<typeof writeDeclaration.input>;

export const editDeclaration = declare(
  "edit",
  "write",
  "Replaces one passage in a text file of the workspace. `oldText` must occur exactly once, line ends and spaces " +
    "included: include enough of its context. In a file whose lines end with CRLF, LF means CRLF. Nothing in .git or " +
    ".harness can be edited.",
  {
    path: PathSchema,
    oldText: WellFormedSchema.min(1).describe("The text to replace, exactly as in the file; must occur once"),
    newText: WellFormedSchema.describe("The text to put in its place"),
  },
);
export type EditInput = z.infer<typeof editDeclaration.input>;

export const globDeclaration = declare(
  "glob",
  "read",
  "Lists the files of the workspace whose path matches a glob pattern, sorted, hidden ones too. Files that .gitignore " +
    "excludes are listed only with `all`. Skips .git, .harness and node_modules, and does not follow links.",
  {
    pattern: WellFormedSchema.min(1)
      .max(maxGlobLength)
      .describe(
        "Glob relative to `path`: `*.ts` means the top level, `**/*.ts` all levels, `**/*` every file",
      ),
    path: PathSchema.exactOptional().describe("Directory to search; the whole workspace if left out"),
    all: AllFilesSchema,
  },
);
export type GlobInput = z.infer<typeof globDeclaration.input>;

export const grepDeclaration = declare(
  "grep",
  "read",
  "Searches the text files of the workspace, hidden ones too, for lines that match a regular expression in the syntax " +
    "of ripgrep (Rust): no lookaround, no back-references. Files that .gitignore excludes are searched only with `all`. " +
    "Skips .git, .harness, node_modules, binary and very large files, and files whose name marks them as secret, such " +
    "as .env, unless `path` or `include` names them. Does not follow links.",
  {
    pattern: WellFormedSchema.min(1)
      .max(maxPatternLength)
      .describe("Regular expression, matched within single lines; (?i) at its start ignores case"),
    path: PathSchema.exactOptional().describe("File or directory to search; the whole workspace if left out"),
    include: WellFormedSchema.min(1)
      .max(maxGlobLength)
      .exactOptional()
      .describe(
        "Glob of the files to search: `*.ts` by name at any level, with a slash by path relative to `path`",
      ),
    all: AllFilesSchema,
  },
);
export type GrepInput = z.infer<typeof grepDeclaration.input>;

const declarations: readonly ToolDeclaration[] = [
  bashDeclaration,
  readDeclaration,
  writeDeclaration,
  editDeclaration,
  globDeclaration,
  grepDeclaration,
  commandsDeclaration,
  commandInputDeclaration,
  commandStopDeclaration,
];

/** The tool that inspects a call of another tool before it is made. */
export const prepareToolName = "prepare";

export const prepareDeclaration = {
  name: prepareToolName,
  description:
    "Validates the input of another tool of this agent and makes it canonical, without any effect. Returns the `input` " +
    "to show and to call the tool with, a `preview` to judge it by where there is one, and `expected`, to be " +
    "added to that input in the call.",
  input: z.strictObject({
    tool: z.enum(declarations.map(({ name }) => name)).describe("The name of the tool"),
    input: z.unknown().describe("Its input, as the model wrote it"),
  }),
};

/** What `prepare` returns. */
export const PreparedSchema = z.object({
  input: z.record(z.string(), z.json()),
  preview: z.string().exactOptional(),
  expected: ExpectedSchema,
});
export type Prepared = z.infer<typeof PreparedSchema>;

/**
 * Limits of a core under which no input and no output of these tools is refused for its size, and no output of a
 * command is dropped: a file of 4 MiB, escaped as JSON, in one message, and whatever a command prints at once.
 */
export const workspaceCoreLimits = Object.freeze({
  maxFrameBytes: 32 * 1024 * 1024,
  maxToolInputBytes: 30 * 1024 * 1024,
  maxToolOutputBytes: 30 * 1024 * 1024,
  maxStreamChunks: 65_536,
  maxStreamBytes: 16 * 1024 * 1024,
});

/** A tool as a model sees it. */
export interface WorkspaceToolInfo {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of what a model writes, which `prepare` takes. A call takes what `prepare` returned, and `expected`. */
  readonly inputSchema: JsonObject;
  readonly effects: ToolEffects;
}

/** The tools as a model sees them. */
export const workspaceTools: readonly WorkspaceToolInfo[] = declarations.map(
  ({ name, description, effects, input }) => ({
    name,
    description,
    effects,
    inputSchema: z.toJSONSchema(input, { io: "input" }) as JsonObject,
  }),
);
