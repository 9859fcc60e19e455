import { createInterface } from "node:readline";
import { io } from "../io.ts";
import type { ChooseOptions, Chosen } from "./choose.ts";
import { createTerminal } from "./terminal.ts";

/** A letter that leaves the question, where Esc is no key. */
const leaveKey = "l";

/** A choice on a terminal that cannot move its cursor. What is no answer, and several lines at once, are asked for again. */
export const chooseByNumber = <T>({
  message,
  choices,
  initial,
  signal,
  output,
  leave,
}: ChooseOptions<T>): Promise<Chosen<T>> =>
  new Promise((resolve) => {
    const reader = createInterface({ input: io().stdin, output });
    const numbered = choices.map(({ label, hint }, at) => `  ${at + 1} ${label}${hint ? ` (${hint})` : ""}`);
    const usual = choices.findIndex(({ value }) => value === initial) + 1;
    const letters = choices.flatMap(({ key }) => key ?? []);
    const others = leave === undefined ? letters : [...letters, `${leaveKey} to ${leave}`];
    reader.setPrompt(`${["Number", ...others].join(", ")} (Enter: ${usual}): `);
    let chosen: Chosen<T> = "interrupted";
    const settle = (answer: Chosen<T>) => {
      chosen = answer;
      reader.close();
    };
    const onAbort = () => settle("aborted");
    let lines: string[] = [];
    const answer = () => {
      const typed = lines.length === 1 ? (lines[0] ?? "").trim().toLowerCase() : undefined;
      lines = [];
      if (typed === "") return settle({ value: initial });
      if (typed === leaveKey && leave !== undefined) return settle("left");
      const found = choices.find(
        ({ key }, at) => typed !== undefined && (typed === String(at + 1) || typed === key),
      );
      if (found === undefined) reader.prompt();
      else settle({ value: found.value });
    };
    reader.on("line", (line) => {
      // The lines of a paste come at once.
      if (lines.push(line) === 1) setImmediate(answer);
    });
    signal.addEventListener("abort", onAbort, { once: true });
    reader.once("close", () => {
      signal.removeEventListener("abort", onAbort);
      resolve(chosen);
    });
    createTerminal(output).say([message, ...numbered]);
    reader.prompt();
  });
