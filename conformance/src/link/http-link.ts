import { Agent, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { isPlainObject } from "@harnesskit/wire/json";
import { Unmet } from "../errors.ts";
import type { Post } from "../scenario/step-schema.ts";
import { Inbox } from "./inbox.ts";
import { type HttpReply, type Link, toText } from "./link.ts";

export interface HttpTarget {
  readonly url: URL;
  /** The headers of each kind of credential. */
  credentialHeaders(kind: "valid" | "wrong" | "none" | "other"): Readonly<Record<string, string>>;
}

const parsed = (text: string): { body?: unknown } => {
  try {
    return { body: JSON.parse(text) };
  } catch {
    return {};
  }
};

const bodyOf = (post: Post): Uint8Array | undefined => {
  if (post.fill !== undefined) return Buffer.alloc(post.fill, " ");
  if (post.text !== undefined) return Buffer.from(post.text);
  return post.body === undefined ? undefined : Buffer.from(toText(post.body));
};

/** Posts one body; settles with the answer. Rejects with {@link Unmet} when none comes. */
const postTo = (
  target: HttpTarget,
  post: Post,
  content: Uint8Array | undefined,
  limits: { readonly withinMs: number; readonly maxMessageBytes: number },
  shared?: Agent,
): Promise<HttpReply> =>
  new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json",
      ...(content === undefined ? {} : { "content-length": String(content.length) }),
      ...target.credentialHeaders(post.credential ?? "valid"),
      ...(post.headers as Readonly<Record<string, string>> | undefined),
    };
    const send = target.url.protocol === "https:" ? secureRequest : request;
    const url = new URL(target.url);
    if (post.query !== undefined) url.search = post.query;
    const agent = post.sameConnection === true ? shared : false;
    const call = send(url, { method: post.method ?? "POST", headers, agent }, (response) => {
      const chunks: Uint8Array[] = [];
      let length = 0;
      response.on("data", (chunk: Uint8Array) => {
        length += chunk.length;
        if (length <= limits.maxMessageBytes) chunks.push(chunk);
        else call.destroy();
      });
      response.on("error", () => settle(() => reject(new Unmet("the answer broke off"))));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const shown = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        );
        const reply = { status: response.statusCode ?? 0, headers: shown, text, ...parsed(text) };
        settle(() => resolve(reply));
      });
    });
    const timer = setTimeout(() => {
      settle(() =>
        reject(
          new Unmet(`an answer to the POST did not come within ${limits.withinMs} ms (--within gives more)`),
        ),
      );
      call.destroy();
    }, limits.withinMs);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    call.on("error", (error) => settle(() => reject(new Unmet(`the POST failed: ${error.message}`))));
    call.end(content);
  });

/** A connection over HTTP: each message is a POST, and what it is answered with goes to the inbox. */
export const createHttpLink = (
  target: HttpTarget,
  credential: "valid" | "wrong" | "none" | "other",
  limits: { readonly maxMessages: number; readonly maxMessageBytes: number; readonly withinMs: number },
): Link => {
  const inbox = new Inbox(limits.maxMessages);
  const running = new Set<Promise<void>>();
  const shared = new (target.url.protocol === "https:" ? SecureAgent : Agent)({
    keepAlive: true,
    maxSockets: 1,
  });
  const deliver = async (content: Uint8Array): Promise<void> => {
    try {
      const reply = await postTo(target, { credential }, content, limits);
      if ("body" in reply) inbox.add(reply.body);
      else if (reply.text !== "") inbox.addNoise(`a body that is not JSON, with status ${reply.status}`);
    } catch {
      // What was not answered shows in the step that waits for it.
    }
  };
  const start = (content: Uint8Array): Promise<void> => {
    const delivered = deliver(content).finally(() => running.delete(delivered));
    running.add(delivered);
    return delivered;
  };
  return {
    inbox,
    async send(message) {
      const delivered = start(Buffer.from(toText(message)));
      // Requests run side by side; what has no answer is over when it was accepted.
      if (!(isPlainObject(message) && "id" in message)) await delivered;
    },
    write: (chunks) => start(Buffer.concat(chunks)),
    frame: (content) => Buffer.from(content as string),
    reply: async () => {},
    async close() {
      inbox.close({ reason: "it was closed" });
      shared.destroy();
      await Promise.all(running);
    },
    post: (post, withinMs) => postTo(target, post, bodyOf(post), { ...limits, withinMs }, shared),
  };
};
