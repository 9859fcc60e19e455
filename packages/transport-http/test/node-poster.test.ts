import { describe, expect, it } from "vitest";
import { createNodePoster } from "../src/node/node-poster.ts";

describe("posts over a pool that cannot be made", () => {
  it("fail at once with the reason, each of them", async () => {
    const poster = createNodePoster(new URL("http://127.0.0.1:9/ahp"), {
      maxConnections: -1,
      keepAliveMs: 1000,
      tls: undefined,
    });
    const post = () => poster.post({ headers: {}, body: "{}", onStart: () => {} });
    const both = [post(), post()];
    for (const result of await Promise.allSettled(both)) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "UND_ERR_INVALID_ARG" } });
    }
    // Nothing is remembered of the attempt.
    await expect(post()).rejects.toMatchObject({ code: "UND_ERR_INVALID_ARG" });
    poster.close();
  });
});
