import { displayText } from "@harnesskit/wire";

const maxLength = 300;

/** The line of a policy file that allows exactly this call; undefined where one line cannot say it. */
export const allowingRule = (tool: string, input: Readonly<Record<string, unknown>>): string | undefined => {
  const field = ["command", "path"].find((name) => typeof input[name] === "string");
  if (field === undefined || !/^\w+$/.test(tool)) return undefined;
  const value = JSON.stringify(input[field]);
  if (value.length > maxLength || displayText(value) !== value) return undefined;
  const cel = `args.${field} == ${value}`.replaceAll("'", "''");
  return `- { name: allow-this, when: { event: pre_action, tool: ${tool}, cel: '${cel}' }, then: allow }`;
};
