import type { Redirection } from "unbash";
import type { Interpreter } from "./interpreter.ts";
import { dataMark, shown, taintOf, unknownMark } from "./marks.ts";
import type { ShellState } from "./shell-state.ts";

/** Where a command reads from and writes to. */
interface Streams {
  readonly stdin: string | undefined;
  /** Takes what a command printed; returns what of it goes on. */
  deliver(printed: string): string;
}

/** The streams of a command after its redirections. What they open is noted at once. */
export const applyRedirections = (
  run: Interpreter,
  redirections: readonly Redirection[],
  state: ShellState,
  stdin: string | undefined,
): Streams => {
  let input = stdin;
  const targets: { path: string; append: boolean }[] = [];
  for (const each of redirections) {
    if (!run.step()) break;
    const descriptor = each.descriptor?.type === "FileDescriptor" ? each.descriptor.value : undefined;
    if (each.descriptor?.type === "FileDescriptorVariable")
      state.variables.set(each.descriptor.name, [unknownMark]);
    if (each.type === "HereDoc") {
      input = each.body.parts === undefined ? each.body.text : run.expander.body(each.body.parts, state);
      if (each.operator === "<<-") input = input.replace(/^\t+/gm, "");
      continue;
    }
    const target = each.target === undefined ? "" : run.expander.text(each.target, state);
    if (each.type === "HereString") {
      input = `${target}\n`;
      continue;
    }
    if (each.operator === "<") {
      const content = run.read(target, state);
      if (descriptor === undefined || descriptor === 0) input = content;
    } else if (each.operator === "<&") {
      if (descriptor === undefined || descriptor === 0) input = dataMark;
    } else if (each.operator === "<>") {
      run.read(target, state);
      run.write(target, state);
      input = dataMark;
    } else if (each.operator !== ">&" || !/^(?:\d+-?|-)$/.test(target)) {
      if (/^\/dev\/(?:tcp|udp)\//.test(target)) {
        run.noteNetwork();
        run.report("exfiltration", "network-socket", `it writes to a connection through ${shown(target)}`);
      }
      const append = each.operator === ">>" || each.operator === "&>>";
      run.touch(target, state);
      if (descriptor === undefined || descriptor === 1) targets.push({ path: target, append });
    }
  }
  return {
    stdin: input,
    deliver: (printed) => {
      if (targets.length === 0) return printed;
      const last = targets.at(-1);
      if (last !== undefined) run.write(last.path, state, last.append ? taintOf(printed) : printed);
      return "";
    },
  };
};
