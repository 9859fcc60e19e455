import { startOfCall } from "@harnesskit/approvals";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { findGrant, grantedBy } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { digest, randomId } from "@harnesskit/wire";
import { io } from "../io.ts";
import type { Reach } from "../timeline/asked-call.ts";
import { grantKeyPath, harnessDirectory } from "../workspace-directory.ts";

/** A call as it was shown. */
export interface GrantedCall {
  readonly tool: string;
  readonly input: JsonObject;
  readonly preview?: string | undefined;
}

const digested = async ({ tool, input, preview }: GrantedCall) => ({
  ...{ tool, input, preview },
  digest: await digest({ tool, input }),
});

/** What is allowed for always in a directory: `harness run` and `harness chat` keep it in one place. */
export class ProjectGrants {
  readonly #directory: string;
  readonly #store;

  constructor(directory: string) {
    this.#directory = directory;
    this.#store = createFileThreadStore({ root: harnessDirectory(directory), grantKeyPath: grantKeyPath() });
  }

  /** Whether this call, shown exactly so, is allowed for always. */
  async covers(call: GrantedCall): Promise<boolean> {
    const place = { directory: this.#directory };
    return (await findGrant(this.#store, place, await digested(call), startOfCall)) !== undefined;
  }

  /**
   * @param reach `start` for a call that has one
   * @param session the conversation in which it was allowed
   */
  async add(call: GrantedCall, reach: Reach, session: string, callId: string): Promise<void> {
    const match = reach === "start" ? reach : undefined;
    const granted = await grantedBy(await digested(call), match, startOfCall);
    if (granted === undefined) throw new RangeError("the call has no start");
    const grantId = randomId("grant");
    const time = io().clock.now();
    const place = { scope: "directory", threadId: session, directory: this.#directory } as const;
    const given = { grantId, time, grantedBy: "harness chat", requestId: callId };
    await this.#store.addGrant({ ...given, ...place, ...granted });
  }
}
