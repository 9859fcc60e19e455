import { parse } from "unbash";
import { isExact } from "./marks.ts";

/** The words of a text that knows quotes and nothing else; undefined where there is more in it. */
export const splitWords = (text: string): readonly string[] | undefined => {
  if (!isExact(text) || /[$`]/.test(text)) return undefined;
  const script = parse(text.replace(/[;&|<>()]/g, "\\$&"));
  const command = script.commands[0]?.command;
  if (script.errors !== undefined && script.errors.length > 0) return undefined;
  if (command === undefined) return [];
  if (script.commands.length > 1 || command.type !== "Command") return undefined;
  const words = [...command.prefix, ...(command.name === undefined ? [] : [command.name]), ...command.suffix];
  return words.flatMap((word) =>
    word.type === "Word" ? [word.value] : word.type === "Assignment" ? [word.text.replace(/['"]/g, "")] : [],
  );
};
