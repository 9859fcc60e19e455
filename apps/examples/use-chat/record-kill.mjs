// Records the page through a kill of its server: node apps/examples/use-chat/record-kill.mjs FILE.svg. CHROMIUM: where chromium is, if not in /usr/bin.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const width = 760;
const height = 560;
const target = process.argv[2] ?? "use-chat-kill.svg";
const data = await mkdtemp(join(tmpdir(), "use-chat-"));
const TOKEN = "token-of-the-recording";
let PORT = "0";
let server;

const start = async () => {
  server = spawn(process.execPath, [fileURLToPath(new URL("server.mjs", import.meta.url))], {
    env: { ...process.env, DATA: data, TOKEN, PORT, PACE: "400" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: server.stdout }), "line");
  PORT = new URL(line).port;
  return line;
};
const kill = async () => {
  server.kill("SIGKILL");
  await once(server, "close");
};

const frames = [];
const record = async (page, caption, ms) => {
  const picture = await page.screenshot({ type: "jpeg", quality: 72 });
  frames.push({ caption, ms, picture: picture.toString("base64") });
};
const lastAnswerOf = (page) => page.locator("article.assistant").last().locator(".text").allTextContents();
/** Records the page while an answer grows, until it says enough. */
const recordGrowing = async (page, caption, characters) => {
  let seen = "";
  while (seen.length < characters) {
    const text = (await lastAnswerOf(page)).join("");
    if (text !== seen) await record(page, caption, 500);
    seen = text;
    await wait(50);
  }
};

const walk = async (browser) => {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: "light" });
  await page.goto(await start());
  const message = page.getByLabel("Your message");
  const send = page.getByRole("button", { name: "Send" });
  await message.fill("write milk.txt: two litres");
  await record(page, "A request that writes", 1500);
  await send.click();
  await page.getByText("waits for you").waitFor();
  await record(page, "The agent asks first", 2000);
  await kill();
  await record(page, "kill -9 of the server, while the question waits", 1500);
  await start();
  await page.reload();
  await page.getByText("waits for you").waitFor();
  await record(page, "The next server: the question still waits", 2000);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("done").waitFor();
  await send.waitFor();
  await record(page, "Approved, and done once", 2000);
  await message.fill("help");
  await send.click();
  await page.locator("article").nth(3).waitFor();
  await recordGrowing(page, "The answer streams", 60);
  await kill();
  await page.getByText("The server is away.").waitFor();
  await record(page, "kill -9 in the middle of the answer", 2500);
  await start();
  await page.getByText("The server stopped").waitFor();
  await record(page, "The page goes on by itself: what was said, and how it ended", 3500);
};

/** The frames as one picture that moves, with the caption of each below it. */
const toSvg = () => {
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  let at = 0;
  const shown = frames.map(({ caption, ms, picture }, index) => {
    const from = (100 * at) / total;
    at += ms;
    const to = (100 * at) / total;
    const name = `f${index}`;
    // The first frame is what is seen where nothing moves.
    const still = index === 0 ? 1 : 0;
    return {
      style: `@keyframes ${name}{0%{opacity:${still && 1}}${from.toFixed(3)}%{opacity:1}${to.toFixed(3)}%{opacity:0}100%{opacity:0}}#${name}{opacity:${still};animation:${name} ${total}ms step-end infinite}`,
      body: `<g id="${name}"><image width="${width}" height="${height}" href="data:image/jpeg;base64,${picture}"/><text x="16" y="${height + 27}">${caption}</text></g>`,
    };
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + 44}" width="${width}" height="${height + 44}" role="img" aria-label="A chat page whose server is killed twice">
<style>text{font:15px system-ui,sans-serif;fill:#e7ebf0}${shown.map(({ style }) => style).join("")}</style>
<rect width="${width}" height="${height + 44}" rx="8" fill="#161b22"/>
${shown.map(({ body }) => body).join("\n")}
</svg>
`;
};

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
try {
  await walk(browser);
  await writeFile(target, toSvg());
} finally {
  await browser.close();
  server?.kill("SIGKILL");
  await rm(data, { recursive: true, force: true });
}
