import { guardOf, isAlive, signal } from "./processes.mjs";
import { waitUntil } from "./wait-until.mjs";

/** Waits until a launch has its guard. */
const findGuard = (launchId) => waitUntil(`the guard of ${launchId}`, () => guardOf(launchId));

const strike = async ({ seat, pid, isPlanned }, name) => {
  if (isPlanned) return;
  await seat.setStrike(name);
  signal(pid, "SIGUSR2");
};

/**
 * The faults. Each does something to a launch: `{ life, seat, pid, launchId, random }`. `isPlanned` says that the agent
 * does it to itself, as its plan says.
 */
export const faults = {
  "agent killed": ({ pid }) => signal(pid, "SIGKILL"),
  "agent stopped": ({ pid }) => signal(pid, "SIGSTOP"),
  "busy loop": (target) => strike(target, "spin"),
  "socket cut": (target) => strike(target, "cut"),
  "guard killed": async ({ launchId }) => signal(await findGuard(launchId), "SIGKILL"),
  "agent and guard killed": async ({ pid, launchId, random }) => {
    const both = [await findGuard(launchId), pid];
    for (const each of random.chance(0.5) ? both : both.reverse()) signal(each, "SIGKILL");
  },
  "core killed": ({ life }) => life.kill(),
  "core and guards killed": async ({ life }) => {
    // None of them can do its work before all are dead.
    signal(life.pid, "SIGSTOP");
    const guards = [...life.launchIds].map(guardOf).filter((pid) => pid !== undefined);
    for (const pid of guards) signal(pid, "SIGKILL");
    life.kill();
    await waitUntil("the end of the guards", () => !guards.some(isAlive));
  },
};

/** Faults that an agent causes itself; the others are caused from outside. */
export const plannedStrikes = { "busy loop": "spin", "socket cut": "cut" };

export const isOfCore = (fault) => fault.startsWith("core");
