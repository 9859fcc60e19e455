import { StringDecoder } from "node:string_decoder";

/** The hand-written framing: a line is a message; what one read brings is answered by one write. Returns `send`. */
export const lines = (input, output, onMessage) => {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let out = "";
  const flush = () => {
    if (out !== "") output.write(out);
    out = "";
  };
  const send = (message) => {
    if (out === "") queueMicrotask(flush);
    out += `${JSON.stringify(message)}\n`;
    if (out.length >= 8192) flush();
  };
  input.on("data", (chunk) => {
    const parts = (rest + decoder.write(chunk)).split("\n");
    rest = parts.pop();
    for (const line of parts) onMessage(JSON.parse(line), send);
  });
  return send;
};

/** Calls by their ids over something that sends and receives messages: `settle` takes an answer, `caller(send)` makes a call of `requestOf`. */
export const pendingCalls = (requestOf) => {
  const pending = new Map();
  let last = 0;
  return {
    settle: ({ id, result }) => {
      pending.get(id)(result);
      pending.delete(id);
    },
    caller: (send) => (payload) =>
      new Promise((resolve) => {
        const id = ++last;
        pending.set(id, resolve);
        send(requestOf(id, payload));
      }),
  };
};
