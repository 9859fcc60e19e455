import { readStream } from "../read-body.ts";
import type { BodyLimits, ReadBody, RequestView } from "./request-view.ts";

/** A web-standard request as the rules look at it. */
export class FetchRequestView implements RequestView {
  readonly #request: Request;
  readonly #url: URL;
  readonly remoteAddress: string | undefined;

  constructor(request: Request, remoteAddress: string | undefined) {
    this.#request = request;
    this.#url = new URL(request.url);
    this.remoteAddress = remoteAddress;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return this.#url.pathname;
  }

  get query(): string {
    return this.#url.search.slice(1);
  }

  /** Some platforms hand the host over in the URL alone. */
  get authority(): string {
    return this.header("host") ?? this.#url.host;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  async readBody({ maxBytes, timeoutMs, clock }: BodyLimits): Promise<ReadBody> {
    const { body } = this.#request;
    if (!body) return { bytes: new Uint8Array(0) };
    const tooSlow = new AbortController();
    const takeBack = clock.after(timeoutMs, () => tooSlow.abort());
    try {
      const bytes = await readStream(body, maxBytes, tooSlow.signal);
      if (tooSlow.signal.aborted) return { problem: "too_slow" };
      return bytes ? { bytes } : { problem: "too_large" };
    } catch {
      return { problem: tooSlow.signal.aborted ? "too_slow" : "gone" };
    } finally {
      takeBack();
    }
  }
}
