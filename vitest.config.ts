import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultClientConditions, defaultExternalConditions, defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const installed = (path: string) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));

/** The AI SDK 7 and its providers, in the place of 6: what they were installed as, by their own names. */
const aiSdk7 = {
  name: "ai-7",
  alias: [
    { find: /^ai$/, replacement: installed("ai-7/dist/index.js") },
    { find: /^ai\/test$/, replacement: installed("ai-7/dist/test/index.js") },
    { find: /^@ai-sdk\/anthropic$/, replacement: installed("anthropic-4/dist/index.js") },
    { find: /^@ai-sdk\/openai-compatible$/, replacement: installed("openai-compatible-3/dist/index.js") },
  ],
  include: [
    "packages/*/test/ai-sdk/**/*.test.ts",
    "packages/*/test/ai-sdk-ui/**/*.test.ts",
    "packages/*/test/ai-sdk*.test.ts",
    // The other tests of these packages meet nothing of the AI SDK but types.
    "packages/models/test/{create-model,name-tool-calls}.test.ts",
    "packages/models-offline/test/offline-{model,directory}.test.ts",
  ],
};

/** Siblings are read from their sources, so that no test needs a build. */
const source = "@harnesskit/source";

/** Without `module`, which is for bundlers: files behind it may import others without their endings, which Node does not find. */
const asNode = (conditions: readonly string[]) => [source, ...conditions.filter((name) => name !== "module")];

/** What the tests of this run share. It goes with the end of the run. */
const runDirectory = mkdtempSync(join(tmpdir(), "harness-run-"));
process.once("exit", () => rmSync(runDirectory, { recursive: true, force: true }));
const stateHome = join(runDirectory, "state");
mkdirSync(stateHome, { mode: 0o700 });
// Some programs of the tests run as another user.
chmodSync(runDirectory, 0o755);

/**
 * Vitest runs large files first, where it has not measured them before. The files of the conformance suite are small, take long
 * and wait much: at the end they would keep one processor from working.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes("/conformance/test/");
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const skipped = ["**/node_modules/**", "**/dist/**", "**/.harness/**"];

/** Tests that run coding agents of other vendors: these are installed with the first of them. */
const withAgentHosts = ["{packages,apps}/*/test/agent-hosts/**/*.test.ts"];

/** Tests that drive a page of ours in a browser. Each check tries one page of the hub and one of the shell beside these. */
const pages = [
  "apps/hub-web/test/{agents,connection,devices,inbox,policy,push,run,timeline}.test.ts",
  "apps/examples/use-chat/test/**/*.test.ts",
  "apps/examples/web-shell/test/{approval,page}.test.ts",
];

export default defineConfig({
  resolve: { conditions: asNode(defaultClientConditions) },
  ssr: {
    resolve: {
      conditions: asNode(defaultServerConditions),
      externalConditions: [source, ...defaultExternalConditions],
    },
  },
  test: {
    environment: "node",
    // Keys that tests make stay out of the user's home, and no hub of the user or of another run judges them.
    env: { XDG_STATE_HOME: stateHome, HARNESS_TEST_RUN: runDirectory },
    globals: false,
    projects: [
      {
        extends: true,
        test: {
          name: "all",
          include: [
            "packages/*/test/**/*.test.ts",
            "apps/**/test/**/*.test.ts",
            "conformance/test/**/*.test.ts",
            "scripts/test/**/*.test.ts",
          ],
          exclude: [...skipped, ...withAgentHosts, ...pages],
          globalSetup: "./test-kit/postgres-setup.ts",
        },
      },
      // From here on: the nightly run, node scripts/nightly.mjs
      {
        extends: true,
        test: { name: "pages", include: pages },
      },
      {
        extends: true,
        test: {
          name: "agent-hosts",
          include: withAgentHosts,
          globalSetup: "./test-kit/agent-hosts-setup.ts",
        },
      },
      {
        extends: true,
        resolve: { alias: aiSdk7.alias },
        test: { name: aiSdk7.name, include: aiSdk7.include },
      },
    ],
    exclude: skipped,
    pool: "forks",
    // Files of one worker share their modules: loading them again for each file took a sixth of the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Many tests wait for processes and for clocks: twice as many workers as processors keep these busy.
    // A percentage would be cut to the number of processors.
    maxWorkers: 2 * availableParallelism(),
    // Tests wait for conditions, and end as soon as these hold: what follows is for machines that are busy.
    setupFiles: ["./test-kit/patient-waits.ts", "./test-kit/property-seed.ts"],
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    reporters: ["default"],
    coverage: {
      enabled: false,
      provider: "v8",
      include: ["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"],
      reportsDirectory: ".cache/coverage",
      reporter: ["text-summary", "html", "json-summary"],
    },
  },
});
