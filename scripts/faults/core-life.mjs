import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { must } from "../crash/violation.mjs";
import { waitUntil } from "./wait-until.mjs";

const program = fileURLToPath(new URL("core.mjs", import.meta.url));

/** One core process, from its start to its end, and what it told. */
export class CoreLife {
  /** The newest state of each agent. */
  agents = new Map();
  launchIds = new Set();
  socketPath;
  /** What it counted, when it closed. */
  stats;
  /** How it ended: `{ code, signal }`. */
  end;
  stderr = "";
  /** It was asked to close. */
  isClosing = false;
  #child;
  #calls;
  /** What was wrong with a message. */
  #broken;
  #commands = new Map();
  #lastCommand = 0;

  /** Starts a core. `calls` receives every message about a call. */
  constructor({ plan, calls }) {
    this.#calls = calls;
    this.#child = fork(program, [JSON.stringify(plan)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    this.#child.on("message", (message) => {
      try {
        this.#hear(message);
      } catch (error) {
        this.#broken ??= error;
      }
    });
    // Not before everything that it sent was heard.
    this.#child.once("close", (code, signal) => {
      this.end = { code, signal };
    });
  }

  get pid() {
    return this.#child.pid;
  }

  get isOver() {
    return this.end !== undefined;
  }

  kill() {
    this.#child.kill("SIGKILL");
  }

  call(message) {
    this.#send({ type: "call", ...message });
  }

  cancel(requestId) {
    this.#send({ type: "cancel", requestId });
  }

  /** Begins a method of the core; `done` and `code` of what is returned say how it ended. */
  async begin(name, argument) {
    const commandId = ++this.#lastCommand;
    this.isClosing ||= name === "drain" || name === "close";
    const command = { name, isBegun: false, isDone: false, code: undefined };
    this.#commands.set(commandId, command);
    this.#send({ type: "command", commandId, name, argument });
    await this.until(`${name} to begin`, () => command.isBegun);
    return command;
  }

  /** Waits for something that only a living core can bring. */
  async until(what, look) {
    const states = () => JSON.stringify([...this.agents.values()]);
    await waitUntil(
      () => `${what}; the agents: ${states()}`,
      () => this.#broken || this.isOver || look(),
    );
    if (this.#broken) throw this.#broken;
    const found = look();
    must(found, `the core ended by itself, before ${what}: ${JSON.stringify(this.end)} ${this.stderr}`);
    return found;
  }

  async ended() {
    await waitUntil("the end of the core", () => this.isOver);
    if (this.#broken) throw this.#broken;
    return this.end;
  }

  /** Commands that were begun and have no end. */
  get openCommands() {
    return [...this.#commands.values()].filter(({ isDone }) => !isDone).map(({ name }) => name);
  }

  #send(message) {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #hear(message) {
    const { type, commandId } = message;
    if (type === "started") this.socketPath = message.socketPath;
    else if (type === "closed") this.stats = message.stats;
    else if (type === "health") {
      this.agents.set(message.agent.agentId, message.agent);
      if (message.agent.launchId) this.launchIds.add(message.agent.launchId);
    } else if (type === "begun") this.#commands.get(commandId).isBegun = true;
    else if (type === "done")
      Object.assign(this.#commands.get(commandId), { isDone: true, code: message.code });
    else this.#calls.hear(message);
  }
}
