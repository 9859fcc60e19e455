/// <reference path="./undici-pool.d.ts" />
import type { SecureContextOptions } from "node:tls";
import type { Pool } from "undici";
import type { Poster } from "../poster.ts";
import { PooledPost } from "./pooled-post.ts";

/** What a client needs to trust the server, and the server the client. */
export interface ClientTlsOptions extends Pick<SecureContextOptions, "ca" | "cert" | "key"> {
  /** The name that the server's certificate has to hold. @default the URL's host */
  readonly servername?: string;
}

export interface NodePosterOptions {
  readonly maxConnections: number;
  readonly keepAliveMs: number;
  readonly tls: ClientTlsOptions | undefined;
}

/**
 * Posts over a pool of connections that stay open. An idle one does not keep the process alive. What waits for a
 * connection waits here, so that what is given up leaves nothing behind.
 */
class NodePoster implements Poster {
  readonly #url: URL;
  readonly #options: NodePosterOptions;
  readonly #path: string;
  readonly #waiting = new Set<PooledPost>();
  #underWay = 0;
  #pool: Pool | undefined;
  #loading: Promise<void> | undefined;
  #isClosed = false;

  constructor(url: URL, options: NodePosterOptions) {
    this.#url = url;
    this.#options = options;
    this.#path = `${url.pathname}${url.search}`;
  }

  readonly post: Poster["post"] = (request) => {
    const post = new PooledPost(request, this.#ended);
    request.onStart(() => {
      this.#waiting.delete(post);
      post.giveUp();
    });
    if (this.#pool && this.#underWay < this.#options.maxConnections) this.#dispatch(this.#pool, post);
    else {
      this.#waiting.add(post);
      this.#loading ??= this.#load().catch(this.#unloadable);
    }
    return post.head;
  };

  readonly close = (): void => {
    this.#isClosed = true;
    for (const post of this.#waiting) post.giveUp();
    this.#waiting.clear();
    void this.#pool?.destroy().catch(() => {});
  };

  /** The client library is loaded by the first message: who only serves does not pay for it. */
  async #load(): Promise<void> {
    const { maxConnections, keepAliveMs, tls } = this.#options;
    const { default: Pool } = await import("undici/lib/dispatcher/pool.js");
    if (this.#isClosed) return;
    this.#pool = new Pool(this.#url.origin, {
      connections: maxConnections,
      // An idle connection is given up before the usual server does it: a message on its way then would be lost.
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The exchange has a time for the whole of a message.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(tls && { connect: { ...tls } }),
    });
    this.#pump(this.#pool);
  }

  /** The next message tries again. */
  readonly #unloadable = (cause: unknown): void => {
    this.#loading = undefined;
    for (const post of this.#waiting) post.fail(cause);
    this.#waiting.clear();
  };

  #pump(pool: Pool): void {
    for (const post of this.#waiting) {
      if (this.#underWay >= this.#options.maxConnections) return;
      this.#waiting.delete(post);
      this.#dispatch(pool, post);
    }
  }

  #dispatch(pool: Pool, post: PooledPost): void {
    this.#underWay++;
    const { headers, body } = post.request;
    pool.dispatch({ path: this.#path, method: "POST", headers, body }, post);
  }

  readonly #ended = (): void => {
    this.#underWay--;
    if (this.#pool && !this.#isClosed) this.#pump(this.#pool);
  };
}

/** Posts with `undici`, over connections that stay open. */
export const createNodePoster = (url: URL, options: NodePosterOptions): Poster =>
  new NodePoster(url, options);
