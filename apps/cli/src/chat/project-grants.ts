import { startOfCall } from "@harnesskit/approvals";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { findGrant, previewDigestOf, startDigest } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { digest, randomId } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { io } from "../io.ts";
import type { Reach } from "../timeline/asked-call.ts";
import { grantKeyPath, harnessDirectory } from "../workspace-directory.ts";

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
    this.#store = createFileThreadStore({ root: harnessDirectory(directory), grantKeyPath: grantKeyPath() });
  }

  /** Whether this call, shown exactly so, is allowed for always. */
  async covers({ tool, input, preview }: GrantedCall): Promise<boolean> {
    const call = { tool, input, digest: await digest({ tool, input }), preview };
    return (await findGrant(this.#store, { directory: this.#directory }, call, startOfCall)) !== undefined;
  }

  /**
   * @param reach `start` for a call that has one
   * @param session the conversation in which it was allowed
   */
  async add(call: GrantedCall, reach: Reach, session: string, callId: string): Promise<void> {
    const { tool } = call;
    const start = reach === "start" ? startOfCall(call) : undefined;
    const previewDigest = await previewDigestOf(call.preview);
    const asked = {
      ...{ tool, input: start ?? call.input, match: start && ("start" as const) },
      digest: await (start ? startDigest(tool, start) : digest({ tool, input: call.input })),
      ...{ requestId: callId, previewDigest },
    };
    const grantId = randomId("grant");
    const time = io().clock.now();
    const place = { scope: "directory", threadId: session, directory: this.#directory } as const;
    await this.#store.addGrant(defined({ grantId, time, grantedBy: "harness chat", ...place, ...asked }));
  }
}
