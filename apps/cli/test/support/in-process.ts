import { Readable, Writable } from "node:stream";
import { main } from "../../src/main.ts";

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

/** Runs a command line in this process, for what a command says before it does anything. */
export const inProcess = async (args: readonly string[], cwd: string, input = "") => {
  const [stdout, stderr] = [collecting(), collecting()];
  const io = {
    stdin: Readable.from(input === "" ? [] : [Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    cwd: () => cwd,
  };
  const code = await main({ args, binPath: "harness", version: "1.2.3" }, io);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
};
