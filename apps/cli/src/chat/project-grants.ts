import type { JsonObject } from "@harnesskit/protocol/envelope";
import { isPreviewCut } from "@harnesskit/protocol/threads";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { digest, randomId } from "@harnesskit/wire";
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
    if (isPreviewCut(preview)) return false;
    const bound = await digest({ tool, input });
    const seen = preview === undefined ? undefined : await digest(preview);
    const grants = await this.#store.grants({ digest: bound });
    return grants.some(
      (grant) =>
        grant.scope === "directory" &&
        grant.directory === this.#directory &&
        grant.digest === bound &&
        grant.previewDigest === seen,
    );
  }

  /** @param session the conversation in which it was allowed */
  async add({ tool, input, preview }: GrantedCall, session: string, callId: string): Promise<void> {
    await this.#store.addGrant({
      ...{ grantId: randomId("grant"), scope: "directory", threadId: session, directory: this.#directory },
      ...{ tool, input, digest: await digest({ tool, input }), requestId: callId },
      ...(preview !== undefined && { previewDigest: await digest(preview) }),
      ...{ grantedBy: "harness chat", time: io().clock.now() },
    });
  }
}
