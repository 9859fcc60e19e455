import { plannedStrikes } from "./inflict.mjs";

/** Waits until a launch after `launchId` has a process. */
const nextLaunch = ({ life, seat }, launchId) =>
  life.until(`another process of ${seat.id}`, () => {
    const agent = life.agents.get(seat.id);
    return agent?.pid !== undefined && agent.launchId !== launchId;
  });

/** Waits until the present launch has written something down. */
const untilNoted = ({ life, seat }, what) =>
  life.until(`${seat.id} to write down "${what}"`, () => {
    const { launchId } = life.agents.get(seat.id);
    return seat.journal.some((line) => line.what === what && line.launchId === launchId);
  });

/** Starts the agent again by hand, and waits until it is held where it is to be. */
const holdAt = async (scene, hold) => {
  const { life, seat } = scene;
  const { launchId } = life.agents.get(seat.id);
  await seat.plan({ hold });
  await life.begin("restart", seat.id);
  await nextLaunch(scene, launchId);
  await untilNoted(scene, "held");
  await seat.plan({});
};

/** A call that ends by nothing but what is done to it. */
const beginCall = async (scene, name, input = {}) => {
  const { life, seat, random } = scene;
  const call = scene.makeCall(seat, name, input);
  await life.until(`${name} to run`, () => call.callId !== undefined && seat.has("ran", call));
  const chunks = name === "stream" ? random.between(1, 5) : 0;
  await life.until("its stream", () => call.chunks >= chunks);
  return call;
};

const eitherCall = (scene, input) => beginCall(scene, scene.random.pick(["hold", "stream"]), input);

/**
 * The steps of an agent's life. Each brings the agent of a scene there, `{ life, seat, fault, random, makeCall }`, and
 * returns the call that is open then, if there is one.
 */
export const steps = {
  "before hello": (scene) => holdAt(scene, scene.random.pick(["connect", "hello"])),
  "before registration": (scene) => holdAt(scene, "register"),
  idle: () => {},
  "call running": (scene) => beginCall(scene, "hold"),
  "call streaming": (scene) => beginCall(scene, "stream"),
  "call being cancelled": async (scene) => {
    const { life, seat } = scene;
    const call = await eitherCall(scene, { stubborn: true });
    life.cancel(call.requestId);
    await life.until("the cancellation", () => seat.has("aborted", call));
    return call;
  },
  draining: async (scene) => {
    const { life, seat, random } = scene;
    const call = await eitherCall(scene);
    const name = random.pick(["stop", "restart", "drain"]);
    await life.begin(name, name === "drain" ? { timeoutMs: 1000 } : seat.id);
    return call;
  },
  restarting: async (scene) => {
    const { life, seat, fault, random } = scene;
    const { pid, launchId } = life.agents.get(seat.id);
    const delayMs = random.between(0, 300);
    const strike = plannedStrikes[fault];
    if (strike !== undefined) await seat.plan({ strike, strikeAfterMs: delayMs });
    process.kill(pid, "SIGKILL");
    await nextLaunch(scene, launchId);
    if (strike !== undefined) {
      await untilNoted(scene, "start");
      await seat.plan({});
    }
    scene.isPlanned = strike !== undefined;
    scene.delayMs = delayMs;
  },
};
