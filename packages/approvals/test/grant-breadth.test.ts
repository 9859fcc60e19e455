import type { JsonObject } from "@harnesskit/protocol/envelope";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ApprovalError,
  createMemoryApprovalStore,
  type FieldPattern,
  type InputPattern,
  presentGrant,
} from "../src/index.ts";

/** What giving a grant for this input comes to. */
const given = async (input: JsonObject, pattern: InputPattern): Promise<string> => {
  const store = createMemoryApprovalStore();
  const { record } = await store.ask({
    origin: { agent: "a", session: "s" },
    subject: { tool: "t", input },
    rule: { id: "r", reason: "asks" },
  });
  const always = { reach: "agent", input: pattern } as const;
  const answer = { type: "answer", decision: "approve", by: "ada", digest: record.digest, always } as const;
  try {
    await store.apply(record.id, answer);
    return "given";
  } catch (error) {
    if (!ApprovalError.isInstance(error)) throw error;
    expect((await store.get(record.id))?.status).toBe("pending");
    return `${error.code}: ${error.message}`;
  }
};

describe("a grant that would allow far more than it says", () => {
  it.each<[JsonObject, InputPattern, string]>([
    [{ path: "/etc/passwd" }, { path: { under: "//" } }, "must be a path without //"],
    [{ path: "/etc/passwd" }, { path: { under: "/" } }, "every path of the machine"],
    [{ path: "/a/b" }, { path: { under: "/a/../a" } }, "must be a path without //"],
    [{ command: "curl x" }, { command: { startsWith: "c" } }, "may go on: end it with a space"],
    [{ command: "curl x" }, { command: { startsWith: "curl" } }, "may go on: end it with a space"],
    [{ command: " ls" }, { command: { startsWith: " " } }, "says nothing about the value"],
    [{ command: "bash x.sh" }, { command: { startsWith: "bash " } }, '"bash" runs whatever follows'],
    [{ command: "sudo -u root rm x" }, { command: { startsWith: "sudo -u " } }, "runs whatever follows"],
    [{ command: "/usr/bin/env x" }, { command: { startsWith: "/usr/bin/env " } }, "runs whatever follows"],
    [{ command: "A=1 sh x" }, { command: { startsWith: "A=1 sh " } }, "runs whatever follows"],
    [{ command: "sudo rm x" }, { command: { startsWith: "sudo rm" } }, "may go on: end it with a space"],
    [{ command: "ls" }, { command: { any: true } }, "every command"],
    [{ url: "https://a.org/x" }, { url: { startsWith: "https://a.org" } }, "end it with /"],
    [{ url: "https://a@b.org/x" }, { url: { startsWith: "https://a@b.org/" } }, "end it with /"],
  ])("is refused by name: %j with %j", async (input, pattern, reason) => {
    expect(await given(input, pattern)).toMatch(/^grant_too_wide: the pattern of "/);
    expect(await given(input, pattern)).toContain(reason);
  });

  it.each<[JsonObject, InputPattern]>([
    [{ path: "/work/src/a.ts" }, { path: { under: "/work/src/" } }],
    [{ command: "curl https://a.org/x" }, { command: { startsWith: "curl " } }],
    [{ command: "sudo apt update" }, { command: { startsWith: "sudo apt " } }],
    [{ command: "python -m pytest a" }, { command: { startsWith: "python -m pytest " } }],
    [{ command: "npm test" }, { command: { startsWith: "npm test" } }],
    [{ url: "https://a.org/x" }, { url: { startsWith: "https://a.org/" } }],
  ])("is given where its pattern says what it allows: %j with %j", async (input, pattern) => {
    expect(await given(input, pattern)).toBe("given");
  });
});

/** What giving a grant for each command that begins like this comes to. */
const givenStart = (startsWith: string): Promise<string> =>
  given({ command: `${startsWith}x` }, { command: { startsWith } });

/** Runners with their options and operands, up to the place of the program that they run. */
const wrappers = [
  ...["timeout 60", "timeout -k 5 60", "timeout --signal=KILL 60", "timeout -s KILL -v 1m"],
  ...[
    "sudo",
    "sudo -u root",
    "sudo -n -E --user=root",
    "doas -u root",
    "env",
    "env -i A=b",
    "env -u HOME a.b=c",
  ],
  ...[
    "nice -n 5",
    "ionice -c 3",
    "nohup",
    "setsid",
    "stdbuf -o L",
    "time -p",
    "watch -n 2",
    "flock /tmp/lock",
  ],
  ...[
    "chroot /srv",
    "strace -f",
    "exec",
    "command",
    "builtin",
    "busybox",
    "npx -y",
    "bunx",
    "uvx",
    "taskset 1",
  ],
  ...[
    "bash",
    "sh",
    "zsh",
    "fish",
    "python -m",
    "python3.12 -m",
    "node",
    "chrt 10",
    "unshare",
    "corepack",
    "repeat 3",
    "if",
    "Rscript",
  ],
];

/** Runners whose start says nothing of what runs, whatever stands behind them. */
const exactOnly = [
  ...[
    "ssh host",
    "docker run",
    "docker exec box ls",
    "podman run",
    "kubectl exec pod --",
    "kubectl get",
    "su root",
  ],
  ...[
    "xargs -n 1",
    "xargs rm",
    "find . -exec",
    "find . -name",
    "parallel",
    "parallel ls",
    "eval ls",
    "sh -c",
  ],
  ...[
    "sh -c ls",
    "bash -lc ls",
    "python -c",
    "node -e x",
    "env -S ls",
    "sudo -s",
    "sudo -i ls",
    "flock /tmp/l -c",
  ],
  ...[
    "nice -5",
    "git -c x=y",
    "git -C /tmp status",
    "git bisect run",
    "npm exec",
    "npm x --",
    "pnpm dlx",
    "pnpm node",
  ],
  ...[
    "yarn dlx x",
    "uv run",
    "cargo run",
    "go run",
    "poetry run",
    "deno eval",
    "tmux new",
    "awk -f",
    "pwsh -c",
  ],
  ...[
    "python -m pdb",
    "npx -p x",
    "node inspect",
    "trap ls",
    "setarch x86_64",
    "npx --package=x y",
    "uvx --from x y",
    "fd -x",
    "systemd-run ls",
  ],
];

const starts = fc
  .tuple(
    fc.constantFrom("", "A=b ", "A= B+=c "),
    fc.array(fc.tuple(fc.constantFrom("", "", "/usr/bin/", "./"), fc.constantFrom(...wrappers)), {
      maxLength: 3,
    }),
  )
  .map(([assigned, chain]) => assigned + chain.map(([folder, wrapper]) => `${folder}${wrapper} `).join(""));

const refusesRunner = (answer: string): void => {
  expect(answer).toMatch(/^grant_too_wide: /);
  expect(answer).not.toContain("end it with");
};

describe("a start whose first program runs another one", () => {
  it.each(wrappers)("is refused until the program is named: %s", async (start) => {
    refusesRunner(await givenStart(`${start} `));
    refusesRunner(await givenStart(start));
    expect(await givenStart(`${start} cat`)).toContain("may go on: end it with a space");
    expect(await givenStart(`${start} cat `)).toBe("given");
    expect(await given({ command: `${start} x` }, { command: { is: `${start} x` } })).toBe("given");
  });

  it.each(exactOnly)("is refused where it can name no program: %s", async (start) => {
    for (const end of ["", " ", " cat "]) refusesRunner(await givenStart(start + end));
    expect(await given({ command: start }, { command: { is: start } })).toBe("given");
  });

  it("is never accepted, behind other runners and assignments either", async () => {
    await fc.assert(
      fc.asyncProperty(starts, fc.constantFrom("", ...exactOnly), async (start, last) => {
        expect(await givenStart(`${start}${last} `)).toMatch(/^grant_too_wide: /);
      }),
    );
  });

  it("is accepted behind other runners where the last one's program is named", async () => {
    await fc.assert(
      fc.asyncProperty(starts, fc.constantFrom("cat ", "npm test", "git status "), async (start, program) => {
        expect(await givenStart(`${start}${program}`)).toBe("given");
      }),
    );
  });

  it.each(["git ", "npm ", "npm ex", "pnpm d", "pnpm nod", "yarn git ", "sudo git "])(
    "must name the subcommand: %j",
    async (start) => {
      expect(await givenStart(start)).toMatch(/^grant_too_wide: .*subcommand/);
    },
  );

  it.each(["npm run ", "npm test", "cargo build", "go test", "git status", "pnpm test", "pnpm run build"])(
    "is given with an ordinary subcommand: %j",
    async (start) => expect(await givenStart(start)).toBe("given"),
  );

  it.each([
    "'timeout' 60 ",
    "\\sudo ",
    't""imeout 60 ',
    "$S ",
    "ls && ",
    "ls | ",
    "ls; ",
    "ls\n",
    "SUDO ",
    "sudo.exe ",
  ])("is recognized in disguise, or refused: %j", async (start) => refusesRunner(await givenStart(start)));
});

const warnings = (input: Record<string, FieldPattern>): readonly string[] =>
  presentGrant({ agent: "a", tool: "t", expiresAtMs: 1, match: { input } }).filter((line) =>
    line.startsWith("careful: "),
  );

it("a grant says in its lines where it is wider than it looks", () => {
  expect(warnings({ command: { startsWith: "curl " } })).toEqual([
    'careful: "curl " may go on with any option, file and address as arguments',
  ]);
  expect(warnings({ path: { under: "/etc" } })).toEqual([
    'careful: "/etc" is a directory of the system, with all that is in it',
  ]);
  expect(warnings({ branch: { startsWith: "main" } })).toEqual([
    'careful: "main" may go on within the same word, such as "main-x"',
  ]);
  expect(warnings({ a: { any: true }, b: { any: true } })).toEqual([
    "careful: every call of this tool is allowed, whatever its input",
  ]);
  expect(warnings({ path: { under: "/work/src" }, n: { is: 1 } })).toEqual([]);
});
