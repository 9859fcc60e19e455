import { sha256Hex } from "@harnesskit/node-kit";
import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { firstCharacters, wellFormed } from "@harnesskit/wire/replay";
import { inputSchemaOf, type ToolEffects } from "@harnesskit/wire/tool";
import type { ToolInfo } from "../judge-tool.ts";
import { checkAgentToolsOptions } from "../option-names.ts";
import { createHostedTool, type HostedCallOrigin, prepareName, type ThreadTool } from "./hosted-tool.ts";
import type { ToolHost } from "./tool-host.ts";

/** Tools that a model is shown. */
const maxTools = 1024;
/** Characters of a tool's description; a longer one is cut. */
const maxDescriptionLength = 4_096;
/** Characters of a tool's input schema as JSON; a tool with a larger one is left out. */
const maxSchemaLength = 65_536;

export interface AgentToolsOptions extends HostedCallOrigin {
  /** The host of the agents: `createAgentHost`. */
  readonly host: ToolHost;
  /** Agents whose tools are left out, such as those of {@link createThreadTools}. @default none */
  readonly without?: readonly string[] | undefined;
  /** Called with one safe line for each tool that cannot be shown to a model, once. @default ignored */
  readonly onNote?: ((line: string) => void) | undefined;
}

/** The tools that agents have now. Never rejects. */
export type AgentTools = (options?: {
  readonly signal?: AbortSignal | undefined;
}) => Promise<readonly ThreadTool[]>;

const maxNotes = 100;

/** Only what says that it changes nothing reads. What an agent does not say counts as the most dangerous. */
const effectsOf = ({ side_effects: changes, requires_directive: isDirected }: ToolInfo): ToolEffects =>
  changes === false && isDirected !== true ? "read" : "execute";

/** An agent's tool that prepares calls of its others: without side effects, and for `{ tool, input }`. */
const isPrepareTool = ({ name, side_effects: changes, input_schema: { properties } }: ToolInfo): boolean =>
  name === prepareName &&
  changes === false &&
  isObject(properties) &&
  "tool" in properties &&
  "input" in properties;

/** What of a call its input does not say. A human reads it, and a stored answer is for exactly this declaration. */
const aboutOf = ({ tool_id: id, side_effects: changes, declaration_digest: digest }: ToolInfo): string => {
  const effects =
    changes === undefined
      ? "it does not say what it changes"
      : changes
        ? "it changes something"
        : "it says that it only reads";
  return `${id}: ${effects} (declaration ${digest.replace("sha256:", "").slice(0, 16)})`;
};

/**
 * The tools of all agents of a core, as tools of a thread server or a chat graph, with names that models take.
 * A call runs the tool as it was declared when the call was prepared, or ends with the `ToolError` `tool.changed`. An agent's tool `prepare`, if it declares no side effects and takes `{ tool, input }`,
 * prepares the calls of its others; else a call's input is checked by its schema before it is shown.
 * Throws `invalid_argument` for invalid options.
 */
export const createAgentTools = (options: AgentToolsOptions): AgentTools => {
  checkAgentToolsOptions(options);
  const { host, without = [], onNote, ...origin } = options;
  const noted = new Set<string>();
  const note = (id: string, reason: string) => {
    if (noted.has(id) || noted.size >= maxNotes) return;
    noted.add(id);
    onNote?.(`the tool ${displayText(id, { maxLength: 300 })} is left out: ${reason}`);
  };
  const toTool = (info: ToolInfo, preparing: ReadonlySet<string>): ThreadTool => {
    const { tool_id: id, agent_id: agentId, description, input_schema: input, declaration_digest } = info;
    return createHostedTool({
      ...origin,
      host,
      id,
      input,
      name: toModelToolName(id),
      description: wellFormed(firstCharacters(description, maxDescriptionLength)),
      effects: effectsOf(info),
      declarationDigest: declaration_digest,
      about: aboutOf(info),
      prepareId: preparing.has(agentId) ? `${agentId}/${prepareName}` : undefined,
    });
  };
  return async (listing) => {
    const infos = await host.tools({ ...listing, without });
    const preparing = new Set(infos.filter(isPrepareTool).map(({ agent_id: id }) => id));
    const tools = new Map<string, ThreadTool>();
    for (const info of infos.filter((candidate) => !isPrepareTool(candidate)).sort(byId)) {
      const { tool_id: id, input_schema: schema } = info;
      if (JSON.stringify(schema).length > maxSchemaLength) note(id, "the schema of its input is too large");
      else if (!isUsable(info)) note(id, "its input is not declared as a JSON object");
      else if (tools.size >= maxTools) note(id, `a model is shown ${maxTools} tools at most`);
      else {
        const tool = toTool(info, preparing);
        if (tools.has(tool.name)) note(id, `the name ${tool.name} is taken`);
        else tools.set(tool.name, tool);
      }
    }
    return [...tools.values()];
  };
};

const byId = (a: ToolInfo, b: ToolInfo): number => (a.tool_id < b.tool_id ? -1 : 1);

const isUsable = ({ name, input_schema: input }: ToolInfo): boolean => {
  try {
    inputSchemaOf({ name, input });
    return true;
  } catch {
    return false;
  }
};

/** What providers of models take as a tool's name. */
const maxLength = 64;
const markLength = 16;

const safeNamePart = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, "_");

/**
 * The name under which a model is shown a tool: `com.example.hello/greet` becomes `com_example_hello__greet`. Another id
 * never has the same name: where letters were lost, or the name would be too long, a mark made of the whole id follows. At
 * most 64 letters, digits, `_` and `-`.
 */
export const toModelToolName = (toolId: string): string => {
  const slash = toolId.indexOf("/");
  const agent = safeNamePart(toolId.slice(0, slash));
  const tool = safeNamePart(toolId.slice(slash + 1));
  const name = `${agent}__${tool}`;
  const isExact =
    name.length <= maxLength &&
    // Each dot of an agent's id is one "_", and no other "_" is in it; a tool's name is as it was.
    /^[A-Za-z0-9.-]+\/(?!_)[A-Za-z0-9_-]+$/.test(toolId) &&
    !/\.\.|\.\//.test(toolId) &&
    !tool.includes("__");
  if (isExact) return name;
  const mark = sha256Hex(toolId).slice(0, markLength);
  // No exact name has "___".
  return `${name.slice(0, maxLength - markLength - 3)}___${mark}`;
};
