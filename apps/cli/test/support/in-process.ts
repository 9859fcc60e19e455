import { EventEmitter } from "node:events";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { systemClock } from "@harnesskit/wire";
import type { Io } from "../../src/io.ts";
import { main } from "../../src/main.ts";
import { binPath, type HarnessEnd, type HarnessOptions } from "./harness.ts";

const collecting = () => {
  let text = "";
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => text };
};

/** Runs a command line to its end in this process, with `input` to read: the program without its process. */
export const harness = async (
  args: readonly string[],
  { cwd, env = {}, input = "" }: HarnessOptions,
): Promise<HarnessEnd> => {
  const [stdout, stderr] = [collecting(), collecting()];
  const { PATH = "", HOME = "", XDG_STATE_HOME = "" } = process.env;
  const home = env.HOME ?? homedir();
  const variables = { PATH, HOME, XDG_STATE_HOME, ...env };
  // An empty one counts as none: then the state lies in the home, which is that of this process to `os.homedir`.
  if (variables.XDG_STATE_HOME === "") variables.XDG_STATE_HOME = join(home, ".local", "state");
  const code = await new Promise<number>((resolve) => {
    const given: Io = {
      stdin: Readable.from(input === "" ? [] : [Buffer.from(input)]) as NodeJS.ReadStream,
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: variables,
      cwd: () => cwd,
      home: () => home,
      programs: dirname(binPath),
      clock: systemClock,
      signals: new EventEmitter(),
      exit: (code = 0) => resolve(code),
    };
    void main({ args, binPath, version: "1.2.3" }, given).then(resolve);
  });
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
};
