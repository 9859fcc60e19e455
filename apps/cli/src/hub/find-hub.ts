import { lstat, stat } from "node:fs/promises";
import { connect } from "node:net";
import { type HubPlace, hubPlace } from "@harnesskit/hub/place";
import { privatePathProblem } from "@harnesskit/node-kit";
import { shellWord } from "@harnesskit/wire";
import { unavailableError } from "../cli-error.ts";
import { fromHere, io } from "../io.ts";

const connectMs = 1000;

/** The place of the hub whose state has this directory, else of the user's. */
export const hubPlaceAt = (state?: string): HubPlace =>
  hubPlace({ state: state === undefined ? undefined : fromHere(state), env: io().env });

/** Whether something takes connections at a socket. */
export const listensAt = (path: string): Promise<boolean> =>
  new Promise((settle) => {
    const socket = connect({ path });
    const end = (isThere: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      settle(isThere);
    };
    const timer = setTimeout(() => end(false), connectMs);
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });

/**
 * Whether a socket is at the hub's place. Rejects with a `CliError` `insecure_directory` if another user could have put it there: what
 * answers at it decides what agents may do.
 */
const isOwnPlace = async ({ directory, socket }: HubPlace): Promise<boolean> => {
  const isThere = await lstat(socket).then(
    () => true,
    () => false,
  );
  if (!isThere) return false;
  const problem = privatePathProblem(await stat(directory), { kind: "directory", othersMay: "nothing" });
  if (problem === undefined) return true;
  throw unavailableError("insecure_directory", `the hub's directory ${directory} ${problem}`);
};

/** The hub of this user that runs, by its socket; undefined if none does. Rejects with a `CliError` `insecure_directory`. */
export const findHub = async (state?: string): Promise<HubPlace | undefined> => {
  const place = hubPlaceAt(state);
  return (await isOwnPlace(place)) && (await listensAt(place.socket)) ? place : undefined;
};

/** The same for a command that needs it. Rejects with a `CliError` `hub_unavailable` or `insecure_directory`. */
export const requireHub = async (state?: string): Promise<HubPlace> => {
  const found = await findHub(state);
  if (found !== undefined) return found;
  const { socket } = hubPlaceAt(state);
  throw unavailableError("hub_unavailable", `no hub runs at ${socket}`, {
    hint: {
      to: "Start one in another terminal",
      run: `harness hub${state === undefined ? "" : ` --state ${shellWord(state)}`} --open`,
    },
  });
};

/** The hub that was named, which must run, else the user's, if it runs. Rejects as {@link requireHub}. */
export const chosenHub = (state: string | undefined): Promise<HubPlace | undefined> =>
  state === undefined ? findHub() : requireHub(state);
