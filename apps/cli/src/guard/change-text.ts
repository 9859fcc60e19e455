import type { SettingsChange } from "@harnesskit/guard/settings";
import { createTwoFilesPatch } from "diff";
import type { Style } from "../terminal/terminal.ts";
import { blockLines } from "../timeline/approval-lines.ts";

/** The unified diff of a change. */
export const changeDiff = ({ file: { text, path }, after }: SettingsChange): string => {
  const [from, to] = [text === undefined ? "/dev/null" : path, after === undefined ? "/dev/null" : path];
  const patch = createTwoFilesPatch(from, to, text ?? "", after ?? "", undefined, undefined, { context: 3 });
  return patch.slice(patch.indexOf("\n") + 1);
};

/** A change as people read it: safe lines. */
export const changeLines = (change: SettingsChange, style: Style): string[] => {
  const { host, file } = change;
  const link = file.path === file.realPath ? [] : [`  the file is a link; ${file.realPath} is changed`];
  return [style.bold(host.name), ...link, ...blockLines(changeDiff(change), style, "diff"), ""];
};

/** A text of settings, as it would be written by an administrator. */
export const settingsLines = (text: string, style: Style): string[] => blockLines(text, style);
