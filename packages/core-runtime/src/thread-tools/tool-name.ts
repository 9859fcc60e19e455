import { sha256Hex } from "@harnesskit/node-kit";

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
