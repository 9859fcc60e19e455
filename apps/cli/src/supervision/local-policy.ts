import type { AhpExchange } from "@harnesskit/ahp-client";
import { makeDirectory } from "@harnesskit/node-kit";
import type { Policy } from "@harnesskit/policy";
import { openWorkspaceLog } from "../audit/audit-logs.ts";
import { checkHarnessDirectory, harnessDirectory } from "../workspace-directory.ts";

export interface LocalPolicyOptions {
  readonly workspace: string;
  /** A policy that was read from a file, which is watched. @default the shipped policy */
  readonly policy: Policy | undefined;
  readonly version: string;
  readonly note: (line: string) => void;
  readonly onError: (error: unknown) => void;
}

export interface LocalPolicy {
  readonly exchange: AhpExchange;
  close(): Promise<void>;
}

/** The shipped policy as it was built, else the policy and the code that reads policies. */
const openNamedOrShipped = async ({ workspace, policy }: LocalPolicyOptions) => {
  if (policy === undefined) {
    const { openShippedPolicy } = await import("../ahp/shipped-policy.ts");
    const shipped = await openShippedPolicy(workspace);
    if (shipped) return shipped;
  }
  const { openPolicy, watchPolicyFile } = await import("../ahp/policy-file.ts");
  return policy === undefined
    ? { policy: await openPolicy("default", workspace) }
    : { policy, watch: watchPolicyFile };
};

const openHarness = async (options: LocalPolicyOptions) => {
  const { workspace, version, note, onError } = options;
  const [{ createPolicyServer }, opened] = await Promise.all([
    import("../ahp/policy-server.ts"),
    openNamedOrShipped(options),
  ]);
  await checkHarnessDirectory(workspace);
  await makeDirectory(harnessDirectory(workspace));
  const { sink } = await openWorkspaceLog(workspace);
  const server = createPolicyServer({
    ...opened,
    version,
    audit: sink,
    recordContent: false,
    say: note,
    tell: () => {},
    onError,
  });
  return {
    handle: server.harness.handle,
    async close() {
      server.close();
      await server.harness.close();
      await sink.close();
    },
  };
};

/**
 * The harness of a policy in this process. It is opened at once. While it cannot be opened, for example because its audit
 * log cannot be written, each message is rejected, so that nothing is allowed; the next message tries again.
 */
export const createLocalPolicy = (options: LocalPolicyOptions): LocalPolicy => {
  let opening: ReturnType<typeof openHarness> | undefined;
  const opened = () => {
    opening ??= openHarness(options).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  opened().catch(() => {});
  return {
    exchange: {
      // As over a wire, the harness gets a copy: what it does with an event does not change the action.
      handle: async (message, { signal }) =>
        (await opened()).handle(structuredClone(message), { signal, principal: "serve" }),
    },
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
};
