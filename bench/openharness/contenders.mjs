import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createLoader } from "./loader.mjs";
import { requestOf } from "./messages.mjs";

const servers = ["bare", "express", "engine"];

const start = async (name) => {
  const script = fileURLToPath(new URL("./server.mjs", import.meta.url));
  const child = fork(script, [name]);
  const [port] = await once(child, "message");
  const loader = createLoader(port);
  let last = 0;
  return {
    async call() {
      const number = ++last;
      const answer = await loader.post(requestOf(number));
      // Whoever answers something else is not measured.
      if (number > 1) return;
      const { request_id, response } = JSON.parse(answer);
      if (request_id === requestOf(1).request_id && response.action_directives.length === 2) return;
      throw new Error(`${name} answers ${answer}`);
    },
    async close() {
      loader.close();
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
};

export const contenders = servers.map((name) => ({ name, start: () => start(name) }));
