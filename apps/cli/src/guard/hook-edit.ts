/** The tools of hosts that change files, by the names of the hosts. */
const editingTools: readonly string[] = [
  ...["Edit", "MultiEdit", "Write"],
  ...["apply_patch", "patch"],
  ...["edit", "write", "create", "replace", "write_file", "str_replace_editor"],
];

const namesEditing = new RegExp(`"(?:tool_name|toolName|tool)"\\s*:\\s*"(?:${editingTools.join("|")})"`);
/** The fields of what a tool has put out: the call has been made. */
const resultFields = ["tool_response", "tool_result", "toolResult", "output", "error"];

const hookFields = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;

/** Arguments as an object: one host writes them as JSON in a string. */
const argumentsOf = (given: unknown): unknown => (typeof given === "string" ? JSON.parse(given) : given);

/**
 * What the edit of a hook's input would change, as a unified diff or the reason in brackets; undefined for a call that is not an edit and for
 * one that was made. Rejects for input that is not JSON.
 */
export const previewHookEdit = async (input: string, workspace: string): Promise<string | undefined> => {
  if (!namesEditing.test(input)) return undefined;
  const call = hookFields(JSON.parse(input));
  const tool = call?.tool_name ?? call?.toolName ?? call?.tool;
  if (call === undefined || !editingTools.includes(String(tool))) return undefined;
  if (resultFields.some((name) => call[name] !== undefined && call[name] !== null)) return undefined;
  // Loaded for edits alone: this program is started for each call.
  const { previewForeignEdit } = await import("@harnesskit/workspace-agent/edit-preview");
  const cwd = call.cwd ?? call.directory;
  return previewForeignEdit({
    arguments: argumentsOf(call.tool_input ?? call.toolArgs ?? call.args),
    workspace,
    cwd: typeof cwd === "string" && cwd !== "" ? cwd : workspace,
  });
};
