import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ToolHost, ToolHostCallOptions } from "@harnesskit/core-runtime/thread-tools";
import { isGone, sha256Hex, thisProcess } from "@harnesskit/node-kit";
import { isObject } from "@harnesskit/wire/json";
import {
  EndedCommandsSchema,
  endedCommandsToolName,
  workspaceAgentId,
} from "@harnesskit/workspace-agent/declarations";
import * as z from "zod";
import { keepNewest, readStateJson, writeStateJson } from "../state-files.ts";
import { oneLine } from "../terminal/text.ts";
import { stateDirectory } from "../workspace-directory.ts";

const maxFiles = 256;

/** A conversation, and the directory that its commands run in. */
interface CommandPlace {
  readonly conversation: string | undefined;
  readonly directory: string | undefined;
}

const RecordSchema = z.object({
  id: z.string(),
  command: z.string(),
  /** The process whose tools run it. */
  owner: z.object({
    pid: z.int().positive(),
    started: z.string().optional(),
    world: z.string().optional(),
  }),
});
type CommandRecord = z.infer<typeof RecordSchema>;

const recordsDirectory = (): string => stateDirectory("commands");

const fileOf = ({ conversation, directory }: CommandPlace): string => {
  const key = JSON.stringify([directory ?? null, conversation ?? null]);
  return join(recordsDirectory(), `${sha256Hex(key).slice(0, 32)}.json`);
};

/**
 * The commands in the background of a conversation that it does not know the end of, as a private file has them: they outlive the
 * process that runs them. None where there is no file that can be read.
 */
const readCommandRecords = async (place: CommandPlace): Promise<readonly CommandRecord[]> =>
  z.array(RecordSchema).safeParse(await readStateJson(fileOf(place))).data ?? [];

/** Replaces them. One process writes those of a conversation at a time: the one that has its turn. */
const writeCommandRecords = async (place: CommandPlace, records: readonly CommandRecord[]): Promise<void> => {
  if (records.length === 0) return rm(fileOf(place), { force: true });
  await writeStateJson(fileOf(place), records);
  await keepNewest(recordsDirectory(), maxFiles);
};

/** A command that runs in the background. */
export type RunningCommand = Pick<CommandRecord, "id" | "command">;

/** What became of the commands that conversations started in the background. */
export interface EndedCommands {
  /** The host to call the workspace tools by: each command in the background is written down before its call returns. */
  readonly host: Pick<ToolHost, "call" | "check">;
  /**
   * A sentence for the model about the commands that ended since it last heard of them, with an earlier process too; undefined where
   * there is none. The process of the tools is not asked for a conversation that has no command. Never rejects.
   */
  note(place: CommandPlace): Promise<string | undefined>;
  /** The commands of this process that run, of all conversations: they end with its tools. Never rejects. */
  running(): Promise<readonly RunningCommand[]>;
}

const bashId = `${workspaceAgentId}/bash`;
const askTimeoutMs = 5_000;
/** Characters of a command that are kept. */
const maxLength = 1_000;

type State = { readonly state: "running" | "ended" | "told"; readonly end: string };

const isOwn = ({ owner }: CommandRecord): boolean => {
  const own = thisProcess();
  return owner.pid === own.pid && owner.started === own.started && owner.world === own.world;
};

const endedWithProcess = "ended with its process, exit code unknown";
const otherWorld =
  "ran before this machine started again, or in another one; whether it still runs is not known";

/** How a command ended; undefined for one that goes on. `states`: what the process of the tools knows. */
const endOf = (record: CommandRecord, states: ReadonlyMap<string, State> | undefined): string | undefined => {
  const { id, owner } = record;
  if (owner.world !== thisProcess().world) return otherWorld;
  if (!isOwn(record)) return isGone(owner) ? endedWithProcess : undefined;
  if (states === undefined) return undefined;
  const found = states.get(id);
  if (found === undefined)
    return "the process of the tools that ran it has ended; whether it still runs is not known";
  return found.state === "ended" ? found.end : undefined;
};

/** @param onError receives why a command could not be written down */
export const createEndedCommands = (
  host: Pick<ToolHost, "call" | "check">,
  onError: (error: unknown) => void,
): EndedCommands => {
  /** Conversations that started a command here, with the origin of that call. */
  const started = new Map<string, { readonly place: CommandPlace; readonly origin: ToolHostCallOptions }>();
  const keyOf = ({ conversation, directory }: CommandPlace) => JSON.stringify([conversation, directory]);
  const placeOf = ({ correlationId, context }: ToolHostCallOptions): CommandPlace => ({
    conversation: correlationId,
    directory: typeof context?.project_root === "string" ? context.project_root : undefined,
  });
  /** Changes of records, one after the other. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const update = (place: CommandPlace, records: readonly CommandRecord[]) =>
    writeCommandRecords(place, records).catch(onError);

  /** What the process of the tools knows; undefined where it does not answer. */
  const statesOf = async (place: CommandPlace): Promise<ReadonlyMap<string, State> | undefined> => {
    const { caller, context, correlationId } = started.get(keyOf(place))?.origin ?? {};
    const options = { caller, context, correlationId, timeoutMs: askTimeoutMs };
    const asked = await host.call(`${workspaceAgentId}/${endedCommandsToolName}`, {}, options, () => {});
    const known = EndedCommandsSchema.safeParse(asked.status === "succeeded" ? asked.output : undefined);
    if (!known.success) return undefined;
    const states = known.data.commands.map(({ id, state, exitCode, signal, stopped }) => {
      const how = signal === undefined ? `exit code ${exitCode}` : signal;
      return [id, { state, end: `${stopped ? "stopped, " : ""}${how}` }] as const;
    });
    return new Map(states);
  };
  /** The records of a conversation that it does not know the end of, and how each has ended. */
  const look = async (place: CommandPlace) => {
    const records = await readCommandRecords(place);
    const states = records.some(isOwn) ? await statesOf(place) : undefined;
    const isKnown = (record: CommandRecord) => isOwn(record) && states?.get(record.id)?.state === "told";
    return records
      .filter((record) => !isKnown(record))
      .map((record) => ({ record, end: endOf(record, states) }));
  };
  return {
    host: {
      check: (...call) => host.check(...call),
      async call(toolId, input, options, onChunk) {
        const result = await host.call(toolId, input, options, onChunk);
        const output = result.status === "succeeded" ? result.output : undefined;
        if (toolId !== bashId || !isObject(input) || !isObject(output) || output.running !== true)
          return result;
        const place = placeOf(options);
        started.set(keyOf(place), { place, origin: options });
        const command = String(input.command).slice(0, maxLength);
        await inTurn(async () => {
          const own = { id: String(output.id), command, owner: thisProcess() };
          await update(place, [...(await readCommandRecords(place)), own]);
        });
        return result;
      },
    },
    note: (place) =>
      inTurn(async () => {
        const found = await look(place);
        const ended = found.filter(({ end }) => end !== undefined);
        const open = found.filter(({ end }) => end === undefined).map(({ record }) => record);
        if (found.length > 0) await update(place, open);
        if (ended.length === 0) return undefined;
        // A line of the model's own must not read as the end of another command.
        const lines = ended.map(
          ({ record: { id, command }, end = "" }) =>
            `- ${oneLine(id, 80)} (${oneLine(command, 200)}): ${oneLine(end, 200)}`,
        );
        return `[Since your last turn, commands in the background have ended. \`commands\` shows the output of those that this process ran.\n${lines.join("\n")}]`;
      }),
    running: () =>
      inTurn(async () => {
        const found = await Promise.all([...started.values()].map(({ place }) => look(place)));
        return found
          .flat()
          .filter(({ record, end }) => isOwn(record) && end === undefined)
          .map(({ record: { id, command } }) => ({ id, command }));
      }),
  };
};
