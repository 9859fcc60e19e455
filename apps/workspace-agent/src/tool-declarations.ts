import type { ToolEffects } from "@harnesskit/wire/tool";
import * as z from "zod";
import { maxCommandTimeoutMs, maxGlobLength, maxPatternLength } from "./limits.ts";

export const ExpectedSchema = z
  .strictObject({
    root: z.string().describe("The real path of the workspace"),
    state: z.string().exactOptional().describe("Identifies the content of the file that was shown"),
  })
  .describe(
    "As `prepare` returned it, for an input that `prepare` returned. If the call would not do what was prepared, it " +
      "fails with tool.changed or tool.outside_workspace and does nothing",
  );

/** What `prepare` found: a call that carries it does what was prepared, or nothing. */
export type Expected = z.infer<typeof ExpectedSchema>;

/** What is known of a tool without its code. */
export interface ToolDeclaration<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly effects: ToolEffects;
  /** What a model writes. */
  readonly input: z.ZodType<Input>;
  /** What a call takes: the same, and `expected`. */
  readonly callInput: z.ZodType;
}

const declare = <const Shape extends z.ZodRawShape>(
  name: string,
  effects: ToolEffects,
  description: string,
  shape: Shape,
) => ({
  name,
  effects,
  description,
  input: z.strictObject(shape),
  callInput: z.strictObject({ ...shape, expected: ExpectedSchema.exactOptional() }),
});

/** A string that UTF-8 can express. */
const WellFormedSchema = z
  .string()
  .refine((value) => !/\p{Cs}/u.test(value), { error: "is not well-formed Unicode" });

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

// Of commands in the background.

const CommandIdSchema = z.string().min(1).max(100).describe("The `id` that bash returned for it");

export const commandsDeclaration = declare(
  "commands",
  "read",
  "Shows the commands that this conversation started in the background, with their output so far and how they ended: " +
    "one of them by its `id`, after waiting for its end where `waitMs` is given, or all. Long output keeps its start and end.",
  {
    id: CommandIdSchema.exactOptional(),
    waitMs: z
      .int()
      .min(0)
      .max(maxCommandTimeoutMs)
      .exactOptional()
      .describe("How long to wait for its end, in milliseconds; not at all if left out"),
  },
);

export const commandInputDeclaration = declare(
  "command_input",
  "execute",
  "Writes to the standard input of a command in the background.",
  {
    id: CommandIdSchema,
    text: WellFormedSchema.max(65_536).describe("What is written, as it is: end a line with a line feed"),
    end: z.boolean().exactOptional().describe("Close its standard input after that"),
  },
);

// It ends only what a human has allowed this conversation to start, which no one needs to be asked about again.
export const commandStopDeclaration = declare(
  "command_stop",
  "read",
  "Ends a command in the background with all that it started.",
  { id: CommandIdSchema },
);

export const toolDeclarations: readonly ToolDeclaration[] = [
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
