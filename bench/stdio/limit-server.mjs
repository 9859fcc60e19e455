// The limit: an echo with nothing but JSON and pipes.
import { StringDecoder } from "node:string_decoder";

const decoder = new StringDecoder("utf8");
let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + decoder.write(chunk)).split("\n");
  rest = lines.pop();
  let out = "";
  for (const line of lines) {
    const { id, params } = JSON.parse(line);
    out += `${JSON.stringify({ jsonrpc: "2.0", id, result: params })}\n`;
  }
  if (out) process.stdout.write(out);
});
