import { request } from "node:http";
import type { Socket } from "node:net";

/** JSON in UTF-8; undefined for anything else. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
};

/** A value as one length-prefixed frame. */
export const toFrame = (value: unknown): Buffer => {
  const bytes = Buffer.from(JSON.stringify(value));
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
};

/** What a mutant forgets: the beginning of what comes in pieces, or what comes with another message. */
interface Forgets {
  readonly pieces: boolean;
  readonly merged?: boolean;
}

/** Calls `onFrame` with what each length-prefixed frame holds. */
export const readFrames = (socket: Socket, forgets: Forgets, onFrame: (content: Buffer) => void): void => {
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = forgets.pieces ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
      const size = rest.readUInt32BE();
      const content = rest.subarray(4, 4 + size);
      rest = forgets.merged ? Buffer.alloc(0) : rest.subarray(4 + size);
      onFrame(content);
    }
  });
};

/** Calls `onLine` with each line. */
export const readLines = (socket: Socket, forgets: Forgets, onLine: (line: Buffer) => void): void => {
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = forgets.pieces ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end);
      rest = forgets.merged ? Buffer.alloc(0) : rest.subarray(end + 1);
      onLine(line);
    }
  });
};

/** Posts a value as JSON; without an answer both members are absent. */
export const postJson = (
  url: string,
  value: unknown,
  { method = "POST", ...headers }: Readonly<Record<string, string>>,
): Promise<{ readonly status?: number | undefined; readonly text?: string }> =>
  new Promise((resolve) => {
    const given = { "content-type": "application/json", ...headers };
    const call = request(url, { method, headers: given }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
    });
    call.on("error", () => resolve({}));
    call.end(JSON.stringify(value));
  });
