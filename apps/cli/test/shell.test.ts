import { spawnSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ActionDirective } from "@harnesskit/protocol/openharness";
import type { ShellStreamEvent } from "@harnesskit/shell-client";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { StreamPreview } from "../src/shell/stream-preview.ts";
import { failure, makeWorkspace } from "./support/harness.ts";
import { harness, startAtTerminal } from "./support/in-process.ts";
import { ScreenTerminal } from "./support/screen-terminal.ts";
import { type Answers, card, engineToken, say, startShellEngine } from "./support/shell-engine.ts";

const setUp = async (answers?: Answers, change?: Parameters<typeof startShellEngine>[2]) => {
  const cwd = await makeWorkspace();
  const engine = await startShellEngine(cwd, answers, change);
  const env = { XDG_STATE_HOME: join(cwd, "state") };
  const args = ["shell", "--engine", engine.url, "--token-file", engine.tokenFile];
  const run = (more: readonly string[], input?: string) =>
    harness([...args, ...more], { cwd, env, ...(input === undefined ? {} : { input }) });
  return { cwd, env, args, engine, run };
};

describe("the preview of an answer", () => {
  const samples: Readonly<Record<string, readonly string[]>> = {
    prose: Array(30).fill("some words here "),
    Chinese: Array(30).fill("这是一个没有空格的回答，"),
    "a long URL": ["see https://example.com/", ...Array(20).fill("a-very-long-path-segment/")],
    tabs: Array(10).fill("\ta\tb\tc\td\te\tf\tg\n"),
    code: Array(10).fill("    if(x){return_something_quite_long_without_any_space_in_it(1,2,3);}  \n"),
    "wide characters that are not whole": Array(40).fill(["😀", "\ud83d", "\ude00 👩‍👩‍👧 "]).flat(),
  };
  const preview = (columns: number) => {
    const screen = new ScreenTerminal(columns, 20);
    const clock = createManualClock();
    const shown = new StreamPreview(screen, () => 20, clock);
    screen.write("you said this\n");
    const show = (event: object) => {
      shown.show({ requestId: "r", ...event } as ShellStreamEvent);
      clock.advance(50);
    };
    return { screen, show };
  };

  it.each(Object.entries(samples))("of %s is taken back whole, in terminals of any width", (_, deltas) => {
    for (const columns of [11, 40, 80]) {
      const { screen, show } = preview(columns);
      let most = 0;
      for (const delta of deltas) {
        show({ type: "text", messageId: "1", delta });
        show({
          type: "progress",
          directiveId: "d",
          state: "running",
          message: deltas.join(""),
          fraction: 0.5,
        });
        most = Math.max(most, screen.rows.length);
        expect(screen.rows.length).toBeLessThan(30);
      }
      expect(most).toBeGreaterThan(2);
      show({ type: "ended" });
      expect(screen.shown.join("")).toBe("you said this");
    }
  });

  it("shows the end of what is too long, and code as it is", () => {
    const { screen, show } = preview(20);
    show({ type: "text", messageId: "1", delta: "这是一个没有空格的回答\n\tif (x) {\n" });
    show({ type: "progress", directiveId: "d", state: "done", message: "a card with a title that is long" });
    expect(screen.shown).toEqual([
      "you said this",
      "这是一个没有空格的",
      "回答",
      "    if (x) {",
      "● a card with a … ✓",
    ]);
  });
});

describe("harness shell", () => {
  it("says one thing, and goes on with the conversation in the next call", async () => {
    const { run, engine, cwd } = await setUp();
    expect(await run(["hello"])).toMatchObject({ code: 0, stdout: "You said: hello\n", stderr: "" });
    await run(["--session", "mine", "second"]);
    await run(["third"]);
    expect(engine.sessions.size).toBe(2);
    expect(engine.sessions).toContain("mine");
    await run(["--new", "fourth"]);
    expect(engine.sessions.size).toBe(3);
    // Only this user reads what is kept, and the token is not among it.
    const [directory = ""] = await readdir(join(cwd, "state/harnesskit/shell"));
    const kept = join(cwd, "state/harnesskit/shell", directory);
    expect((await stat(kept)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(kept)) {
      expect((await stat(join(kept, name))).mode & 0o777).toBe(0o600);
      expect(await readFile(join(kept, name), "utf8")).not.toContain(engineToken);
    }
  });

  it("shows cards as text, and what it cannot show by its fallback", async () => {
    const rows = [
      { room: "Kitchen", degrees: 21.5 },
      { room: "Bäd", degrees: 9 },
    ];
    const { run } = await setUp({
      cards: () => [
        card("table", { rows }, "Rooms"),
        card("chart", {
          unit: "kWh",
          points: [
            { label: "a", value: 4 },
            { label: "b", value: -2 },
          ],
        }),
        card("text", { text: "two\nlines" }),
        { action_type: "render_ui", payload: { component: "map", fallback_message: "In Vienna." } },
        card("gauge", {}),
        card("form", { fields: [{ name: "who", required: true }] }, "Who?"),
      ],
    });
    const { code, stdout, stderr } = await run(["cards"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(
      "Rooms\nroom     degrees\n───────  ───────\nKitchen     21.5\nBäd            9\n",
    );
    expect(stdout).toMatch(/\nin kWh\n─+ +─+\na +4\nb +-2\n/);
    expect(stdout).toContain("\ntwo\nlines\n\nIn Vienna.\n\n(a card that cannot be shown here: gauge)\n");
    expect(stdout).toContain("Who?\n  who (needed): text\n");
  });

  it("keeps a question for later where there is no terminal, and answers it by --approve", async () => {
    const { run, engine } = await setUp();
    const asked = await run(["delete"]);
    expect(asked.code).toBe(3);
    expect(asked.stdout).toBe(
      '  ? delete: call it with this input\n  │ {\n  │   "path": "notes"\n  │ }\n  risk unknown, to be handled as high\n' +
        "  What it does is up to the tool.\n  the engine says:\n  │ Delete it?\n  │ The notes.\n  it waits: there is no terminal to ask in\n",
    );
    expect(asked.stderr).toContain(
      "harness shell: 1 question waits for your approval: harness shell --engine ",
    );
    // Other things are said beside it.
    expect(await run(["hello"])).toMatchObject({ code: 3 });
    const approved = await run(["--approve", "once", "thanks"]);
    expect(approved.code).toBe(0);
    expect(approved.stdout).toContain("approved by --approve once\n\nDeleted.\n\nYou said: thanks\n");
    expect(await run(["--approve", "reject", "delete"])).toMatchObject({ code: 3 });
    expect(engine.heard).toEqual(["delete", "hello", "approved", "thanks", "delete", "refused"]);
  });

  it("takes lines, with commands for what waits", async () => {
    const { run, engine } = await setUp();
    const first = await run([], "hello\n\ndelete\n/dance\n/approve zzz\n");
    expect(first.code).toBe(3);
    expect(first.stdout).toContain("› hello\n\nYou said: hello\n\n› delete\n");
    expect(first.stdout).toContain("There is no command /dance.");
    expect(first.stdout).toContain("Nothing waits under zzz.");
    const second = await run([], "/pending\n/reject\n/approve\n/quit\nnever\n");
    const [, id = ""] = /\/approve ([\w-]{8}) {3}\/reject \1 \[REASON\]/.exec(second.stdout) ?? [];
    expect(id).not.toBe("");
    expect(second.stdout).toContain("› /reject\n\nKept.\n\n› /approve\n\nNothing waits for an approval.\n");
    expect(second.stdout).toContain("to continue: harness shell --engine ");
    expect(engine.heard).toEqual(["hello", "delete", "refused"]);
    await run(["delete"]);
    const third = await run([], `/reject ${id} they are mine\n`);
    expect(third.stdout).toContain("Kept.");
    expect(engine.heard.at(-1)).toBe("refused: they are mine");
  });

  it("keeps a question once, however often the engine asks it", async () => {
    const directive: ActionDirective = {
      action_type: "request_approval",
      payload: { message: "Go on?", subject: { signal_id: "1" } },
    };
    let asked = 0;
    const { run, engine } = await setUp({}, (response) => {
      asked++;
      const continuation = { run_id: "run", continuation_token: `token ${asked}` };
      const others = { run_id: `other ${asked}` };
      response.action_directives = [
        ...(response.action_directives ?? []),
        { ...directive, payload: { ...directive.payload, message: "Go on?", continuation } },
        { ...directive, payload: { ...directive.payload, message: "And this?", continuation: others } },
      ];
    });
    expect((await run(["one"])).stderr).toContain("2 questions wait");
    const second = await run(["two"]);
    // What another run asks is another question.
    expect(second.stderr).toContain("3 questions wait");
    expect(second.stdout.match(/Go on\?/g)).toHaveLength(1);
    expect(engine.heard).toEqual(["one", "two"]);
  });

  it("says what was answered before, and asks what has become of it", async () => {
    const { run, engine, cwd, env, args } = await setUp();
    const mine = ["--session", "shared"];
    await run([...mine, "delete"]);
    const other = { XDG_STATE_HOME: join(cwd, "other") };
    // The same question in another shell's keeping.
    await cp(env.XDG_STATE_HOME, other.XDG_STATE_HOME, { recursive: true });
    expect(await run([...mine, "--approve", "once", "first"])).toMatchObject({ code: 0 });
    const late = await harness([...args, ...mine, "--approve", "once", "second"], { cwd, env: other });
    expect(late.stderr).toContain("harness shell: it was answered before, perhaps elsewhere\n");
    expect(late.stdout).toContain("You said:\n\nYou said: second\n");
    expect(late.stdout).not.toContain("Deleted.");
    expect(engine.heard).toEqual(["delete", "approved", "first", "", "second"]);
  });

  it("puts a question once more that the engine goes on asking: an answer was taken and has got lost", async () => {
    const ask = () => {
      const payload = { title: "Clean?", message: "It goes.", subject: { tool: "clean", input: {} } };
      return { directives: [{ action_type: "request_approval", payload }], continueWith: { runId: "run-1" } };
    };
    const { run, engine, cwd, env, args } = await setUp({ clean: ask, "": ask });
    const mine = ["--session", "shared"];
    await run([...mine, "clean"]);
    const other = { XDG_STATE_HOME: join(cwd, "other") };
    await cp(env.XDG_STATE_HOME, other.XDG_STATE_HOME, { recursive: true });
    await run([...mine, "--approve", "reject"], "/quit\n");
    const late = await harness([...args, ...mine, "--approve", "once"], {
      cwd,
      env: other,
      input: "/quit\n",
    });
    expect(late).toMatchObject({ code: 0, stderr: expect.stringContaining("it was answered before") });
    expect(late.stdout.match(/Clean\?/g)).toHaveLength(2);
    expect(late.stdout).toContain("Deleted.");
    expect(engine.heard).toEqual(["clean", "refused", "", "approved"]);
  });

  it("lets nothing through to the terminal, and does nothing of what it does not know", async () => {
    const evil = "\u001b]0;owned\u0007\u001b[2J\u202etxt.exe\r\u009b31m";
    const { run } = await setUp(
      {
        evil: () => [
          say(evil),
          card("table", { columns: [evil], rows: [[evil]] }, evil),
          card("chart", { points: [{ label: evil, value: 1 }] }),
          card("text", { text: evil }),
          card("form", { fields: [{ name: "a", label: evil, help: evil }] }),
          card(evil, { a: 1 }),
        ],
        question: () => ({
          directives: [
            {
              action_type: "request_approval",
              payload: { message: evil, title: evil, subject: evil, more: evil },
            },
          ],
          continueWith: {},
        }),
      },
      (response) => {
        response.action_directives?.push({
          action_type: `com.example.${evil}`,
          payload: { fallback_message: evil },
        });
      },
    );
    for (const words of ["evil", "question"]) {
      const { stdout, stderr } = await run([words]);
      expect(stdout).toContain("⟨U+001B⟩");
      for (const text of [stdout, stderr]) {
        expect(
          [...text].filter((character) => /[\p{Cc}\p{Cf}]/u.test(character) && character !== "\n"),
        ).toEqual([]);
      }
      expect(stderr).toContain(
        "the shell does not know this type of action (unknown_action_type com.example.",
      );
    }
  });

  it("ends with a code and a sentence where it cannot go on", async () => {
    const { run, engine, cwd, env } = await setUp();
    const wrong = join(cwd, "wrong");
    await writeFile(wrong, "not-the-token-of-the-engine", { mode: 0o600 });
    const refused = await harness(["shell", "--engine", engine.url, "--token-file", wrong, "x"], {
      cwd,
      env,
    });
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toContain("(unauthorized)");
    expect(refused.stderr).not.toContain("not-the-token");
    const misused = [
      [["shell", "--engine", "ftp://a/", "x"], "--engine: ftp://a/ is not the URL of an engine"],
      [["shell", "--engine", "http://u:p@a/", "x"], "is not the URL of an engine"],
      [
        ["shell", "--engine", "http://engine.example/", "--token-file", engine.tokenFile, "x"],
        "in the clear",
      ],
      [["shell", "--engine", engine.url, " "], "There is nothing to say"],
      [["shell", "--engine", engine.url, "--approve", "ask", "x"], "--approve ask needs a terminal"],
      [["shell", "--engine", engine.url, "--session", "", "x"], "--session: an id has"],
      [["shell", "--engine", engine.url, "--timeout", "0", "x"], "--timeout: a number from 1"],
    ] as const;
    await Promise.all(
      misused.map(async ([args, words]) => {
        const end = await harness(args, { cwd, env });
        expect(end).toMatchObject({ code: 2, stdout: "" });
        expect(end.stderr).toContain(words);
      }),
    );
    const none = await harness(["shell", "x"], { cwd, env });
    expect(none).toMatchObject(
      failure(4, "No engine runs here\n  Start one in another terminal: harness engine"),
    );
    await engine.close();
    const away = await run(["anybody?"]);
    expect(away).toMatchObject({ code: 4, stdout: "" });
    expect(away.stderr).toContain("(engine_unreachable)\nharness shell: Start one in another terminal");
  });

  it("finds the engine that this user serves, while its process is there", async () => {
    const { engine, cwd, env } = await setUp();
    const announce = async (pid: number) => {
      await mkdir(join(cwd, "state/harnesskit"), { recursive: true });
      const place = join(cwd, "state/harnesskit/engine.json");
      await writeFile(place, JSON.stringify({ url: engine.url, tokenFile: engine.tokenFile, pid }));
    };
    await announce(process.pid);
    expect(await harness(["shell", "hello"], { cwd, env })).toMatchObject({
      code: 0,
      stdout: "You said: hello\n",
    });
    const gone = spawnSync("true");
    await announce(gone.pid);
    expect(await harness(["shell", "hello"], { cwd, env })).toMatchObject({ code: 4 });
  });

  it("asks at the terminal, where what was typed before is no answer but the next message", async () => {
    const { cwd, env, args, engine } = await setUp();
    const shell = startAtTerminal(args, { cwd, env });
    await shell.sees(/session sess_/);
    // The second line is typed before the question is there: "y" and Enter answer nothing, and "y" is sent when the turn is over.
    shell.write("delete\ry\r\r");
    await shell.sees(/Allow it\?/);
    expect(engine.heard).toEqual(["delete"]);
    shell.write("\u001b[A\u001b[A\u001b[A\r");
    await shell.sees(/Deleted\./);
    shell.write("/quit\r");
    expect(await shell.ended).toMatchObject({ code: 0 });
    expect(engine.heard).toEqual(["delete", "approved", "y"]);
  });

  it("is interrupted by Ctrl-C at a question, which goes on waiting", async () => {
    const { cwd, env, args, engine } = await setUp();
    const shell = startAtTerminal([...args, "delete"], { cwd, env });
    await shell.sees(/Allow it\?/);
    shell.write("\u0003");
    const { code, stdout } = await shell.ended;
    expect(code).toBe(130);
    expect(stdout).toContain("1 question waits for your approval");
    expect(engine.heard).toEqual(["delete"]);
  });
});
