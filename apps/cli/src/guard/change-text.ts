import type { SettingsChange } from "@harnesskit/guard/settings";
import { structuredPatch } from "diff";
import type { Style } from "../terminal/style.ts";
import { blockLines } from "../timeline/approval-lines.ts";

const contextLines = 3;

/** The unified diff of a change. */
export const changeDiff = ({ file, after }: SettingsChange): string => {
  const { text, path } = file;
  const [from, to] = [text === undefined ? "/dev/null" : path, after === undefined ? "/dev/null" : path];
  const { hunks } = structuredPatch(from, to, text ?? "", after ?? "", undefined, undefined, {
    context: contextLines,
  });
  const body = hunks.map(
    ({ oldStart, oldLines, newStart, newLines, lines }) =>
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@\n${lines.join("\n")}\n`,
  );
  return `--- ${from}\n+++ ${to}\n${body.join("")}`;
};

/** A change as people read it: safe lines. */
export const changeLines = (change: SettingsChange, style: Style): string[] => {
  const { host, file } = change;
  const link = file.path === file.realPath ? [] : [`  the file is a link; ${file.realPath} is changed`];
  return [style.bold(host.name), ...link, ...blockLines(changeDiff(change), style, "diff"), ""];
};

/** A text of settings, as it would be written by an administrator. */
export const settingsLines = (text: string, style: Style): string[] => blockLines(text, style);
