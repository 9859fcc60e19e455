import { once } from "node:events";
import { chmodSync } from "node:fs";
import { connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { join } from "node:path";
import type { RunningModule, StartModule, TargetPlace } from "../../src/index.ts";
import type { NamedMatchers } from "../../src/match/match.ts";
import type { Framing, Role } from "../../src/scenario/suite-schema.ts";
import { freePort } from "../../src/target/place.ts";
import { createChanger } from "./apply-change.ts";
import { createCutter, frameOf, messageIn } from "./frames.ts";
import type { Change } from "./read-changes.ts";

/** Sockets that listen or are dialled at an endpoint of the suite. */
const addressOf = (endpoint: string): NetConnectOpts => {
  if (endpoint.startsWith("unix:")) return { path: endpoint.slice(5) };
  const { hostname, port } = new URL(endpoint.replace(/^\w+:(?:\/\/)?/, "http://"));
  return { host: hostname, port: Number(port) };
};

/** How the Host header names an endpoint. */
const hostOf = (endpoint: string): string => endpoint.split("/")[2] ?? endpoint;

const innerEndpoint = async ({ endpoint, directory }: TargetPlace, count: number): Promise<string> =>
  endpoint.startsWith("unix:")
    ? `unix:${join(directory, `inner-${count}.sock`)}`
    : endpoint.replace(/:\d+(?=\/|$)/, `:${await freePort()}`);

const replaced = (bytes: Buffer, [from, to]: readonly [string, string]): Buffer =>
  Buffer.from(bytes.toString("latin1").replaceAll(from, to), "latin1");

interface Pipe {
  readonly from: Socket;
  readonly to: Socket;
  readonly framing: Framing;
  /** Whether the change is about the messages of this direction. */
  readonly isChanged: boolean;
  /** What the sender calls the receiver, and its own name: a server looks at the Host of a request. */
  readonly hosts: readonly [string, string];
}

const createPipes = (change: Change, named: NamedMatchers) => {
  const changer = createChanger(change, named);
  return ({ from, to, framing, isChanged, hosts }: Pipe): void => {
    const cutter = createCutter(framing);
    let flushing: NodeJS.Timeout | undefined;
    let held: Buffer | undefined;
    const write = (frame: Buffer): void => {
      if (to.writable) to.write(frame);
      if (held === undefined) return;
      const late = held;
      held = undefined;
      write(late);
    };
    const pass = (frame: Buffer): void => {
      const message = messageIn(frame, framing);
      if (!isChanged) changer.remember(message);
      const changed = isChanged && message !== undefined ? changer.apply(message) : undefined;
      if (changed === undefined) {
        write(frame);
        return;
      }
      if (change.close === true) {
        to.destroy();
        return;
      }
      for (const each of changed.back) from.write(frameOf(each, framing));
      const frames = changed.messages.map((each) => frameOf(each, framing));
      if (change.noise !== undefined) to.write(change.noise);
      if (change.reorder === true) held = Buffer.concat(frames);
      else if (change.delay !== undefined) setTimeout(() => frames.forEach(write), change.delay).unref();
      else frames.forEach(write);
    };
    from.on("data", (chunk: Buffer) => {
      if (change.bytes === undefined) {
        cutter.push(chunk).forEach(pass);
        clearTimeout(flushing);
        flushing = setTimeout(() => {
          const begun = cutter.flush();
          if (begun.length > 0) write(begun);
        }, 100).unref();
        return;
      }
      const addressed = replaced(chunk, hosts);
      write(isChanged ? replaced(addressed, change.bytes) : addressed);
    });
    from.on("end", () => {
      if (isChanged && change.keepOpen === true) return;
      if (held !== undefined) to.write(held);
      to.end();
    });
    from.on("close", () => {
      if (!isChanged || change.keepOpen !== true) to.destroy();
    });
    from.on("error", () => {});
  };
};

/** Changes the outcomes of a driver's operations, as objects `{ do, params, result }` or `{ do, params, error }`. */
const withChangedDriver = (module: RunningModule, change: Change, named: NamedMatchers): RunningModule => {
  if (change.side !== "driver" || module.do === undefined) return module;
  const changer = createChanger(change, named);
  const perform = module.do.bind(module);
  const earlier: Record<string, unknown> = {};
  return {
    ...module,
    close: () => module.close(),
    async do(operation, params) {
      const outcome = await perform(operation, params).then(
        (result) => ({
          do: operation,
          params,
          result: JSON.parse(JSON.stringify(result ?? null)) as unknown,
        }),
        (error: unknown) => ({ do: operation, params, error }),
      );
      earlier[operation] ??= outcome;
      const changed = changer.apply(outcome, earlier);
      const [last = outcome] = changed?.messages ?? [];
      if (change.drop === true && changed !== undefined) return await new Promise<never>(() => {});
      const { result, error } = last as { result?: unknown; error?: unknown };
      if (error !== undefined) throw error;
      return result;
    },
  };
};

/** A target of ours with a proxy before it that changes messages by one rule. */
export const changedTarget = (
  start: StartModule,
  role: Role,
  change: Change,
  named: NamedMatchers,
): StartModule => {
  let count = 0;
  return async (place) => {
    count += 1;
    if (change.side === "driver") return withChangedDriver(await start(place), change, named);
    const framing = role.transports[change.on] as Framing;
    const inner = await innerEndpoint(place, count);
    const isServer = role.plays === "server";
    const [outside, inside] = isServer ? [place.endpoint, inner] : [inner, place.endpoint];
    const sockets = new Set<Socket>();
    const isRestarted = count > 1;
    let connections = 0;
    const proxy = createServer({ allowHalfOpen: true }, (accepted) => {
      const dialled = connect({ ...addressOf(inside), allowHalfOpen: true });
      const [suite, target] = isServer ? [accepted, dialled] : [dialled, accepted];
      const pipe = createPipes(change, named);
      connections += 1;
      const isMeant =
        (change.connection ?? connections) === connections && (change.restarted !== true || isRestarted);
      const hosts = [hostOf(outside), hostOf(inside)] as const;
      pipe({ from: target, to: suite, framing, isChanged: isMeant && change.side === "target", hosts });
      pipe({ from: suite, to: target, framing, isChanged: isMeant && change.side === "suite", hosts });
      for (const socket of [accepted, dialled]) {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
      }
    });
    const listen = async (): Promise<void> => {
      proxy.listen(addressOf(outside));
      await once(proxy, "listening");
      if (outside.startsWith("unix:")) chmodSync(outside.slice(5), 0o600);
    };
    if (!isServer) await listen();
    const module = await start({ ...place, endpoint: inner });
    if (isServer) await listen();
    return {
      ...module,
      async close() {
        await module.close();
        for (const socket of sockets) socket.destroy();
        proxy.close();
      },
    };
  };
};
