import type { JsonObject } from "@harnesskit/protocol/envelope";
import { findGrant, previewDigestOf } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { digest, randomId } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { io } from "../io.ts";
import { harnessDirectory } from "../workspace-directory.ts";

/** A call as it was shown. */
export interface GrantedCall {
  readonly tool: string;
  readonly input: JsonObject;
  readonly preview?: string | undefined;
}

/** What is allowed for always in a directory: `harness run` and `harness chat` keep it in one place. */
export class ProjectGrants {
  readonly #directory: string;
  readonly #store;

  constructor(directory: string) {
    this.#directory = directory;
    this.#store = createFileThreadStore({ root: harnessDirectory(directory) });
  }

  /** Whether exactly this call, shown exactly so, is allowed for always. */
  async covers({ tool, input, preview }: GrantedCall): Promise<boolean> {
    const call = { digest: await digest({ tool, input }), preview };
    return (await findGrant(this.#store, { directory: this.#directory }, call)) !== undefined;
  }

  /** @param session the conversation in which it was allowed */
  async add({ tool, input, preview }: GrantedCall, session: string, callId: string): Promise<void> {
    const previewDigest = await previewDigestOf(preview);
    const asked = { tool, input, digest: await digest({ tool, input }), requestId: callId, previewDigest };
    const grantId = randomId("grant");
    const time = io().clock.now();
    const place = { scope: "directory", threadId: session, directory: this.#directory } as const;
    await this.#store.addGrant(defined({ grantId, time, grantedBy: "harness chat", ...place, ...asked }));
  }
}
