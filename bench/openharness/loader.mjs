import { connect } from "node:net";
import { token } from "./messages.mjs";

/** One kept connection: writes a request, and gives the body of its answer. Knows only what the contenders answer. */
class Connection {
  #socket;
  #text = "";
  #settle;
  isClosed = false;

  constructor(port) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (text) => this.#read(text));
    this.#socket.on("error", (error) => this.#settle?.reject(error));
    this.#socket.on("close", () => {
      this.isClosed = true;
      this.#settle?.reject(new Error("the server has closed a connection"));
    });
  }

  post(message) {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(message);
    });
  }

  #read(text) {
    this.#text += text;
    const end = this.#text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#text)?.[1]);
    if (this.#text.length < end + 4 + length) return;
    const whole = this.#text;
    this.#text = "";
    const { resolve, reject } = this.#settle;
    this.#settle = undefined;
    if (whole.startsWith("HTTP/1.1 200")) resolve(whole.slice(end + 4));
    else reject(new Error(whole.slice(0, 200)));
  }

  close() {
    this.#socket.destroy();
  }
}

/** Posts messages as cheaply as can be, so that the server is what is measured. Gives `post` and `close`. */
export const createLoader = (port) => {
  const idle = [];
  const all = [];
  const head =
    `POST /openharness HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
    "Content-Type: application/json\r\nX-Correlation-ID: corr_8f3a\r\nContent-Length: ";
  return {
    async post(message) {
      const body = JSON.stringify(message);
      let connection = idle.pop();
      // While others were measured, a server may have closed what was idle.
      while (connection?.isClosed) connection = idle.pop();
      if (connection === undefined) {
        connection = new Connection(port);
        all.push(connection);
      }
      const answer = await connection.post(`${head}${body.length}\r\n\r\n${body}`);
      idle.push(connection);
      return answer;
    },
    close: () => {
      for (const connection of all) connection.close();
    },
  };
};
