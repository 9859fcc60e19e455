import { join } from "node:path";
import { hosts } from "@harnesskit/agent-hooks";
import { createGuard, createHookHandler, createHookListener } from "@harnesskit/guard";
import { createHub } from "@harnesskit/hub";
import { type ServedHub, serveHub } from "@harnesskit/hub/node";
import type { HubPlace } from "@harnesskit/hub/place";
import { costOf } from "@harnesskit/models";
import { openPushKeys } from "@harnesskit/notify";
import { createPolicyHarness, PolicyError } from "@harnesskit/policy";
import { type PolicyWatch, savePolicy } from "@harnesskit/policy/node";
import type { Pairing } from "@harnesskit/protocol/hub";
import { createDeferred, HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { describePolicyError, policyWarnings } from "../ahp/event-text.ts";
import { createLiveLog, type LiveLog } from "../ahp/live-log.ts";
import { openPolicy, watchPolicyFile } from "../ahp/policy-file.ts";
import { openDefaultAuditLog } from "../audit/audit-logs.ts";
import { describeFailure, ExitCode, unavailableError, usageError } from "../cli-error.ts";
import { toHttpFailure } from "../endpoint.ts";
import { protectionLine } from "../guard/doctor.ts";
import { onStopSignals } from "../interruption.ts";
import { fromHere, io } from "../io.ts";
import { pricesOf } from "../prices.ts";
import { withCleanup } from "../with-cleanup.ts";
import {
  needsTls,
  type PairingOptions,
  pairingText,
  pairWithRunningHub,
  readPairing,
  toPairingFailure,
  writePairing,
} from "./devices.ts";
import { hubPlaceAt } from "./find-hub.ts";
import { formerPolicyOf, hubCommands, keepPolicyName } from "./hub-commands.ts";
import { openHubStores } from "./hub-stores.ts";
import { readNotifyFile, startNotices, startPushes } from "./notices.ts";
import { browserText, openBrowser, openRunningHub } from "./open-page.ts";
import { checkPublicUrl, readTls } from "./public-place.ts";
import { riskOf } from "./risk.ts";

export interface HubOptions extends PairingOptions {
  /** A policy's file, or `default` for the shipped one. @default the shipped one, and what the hub had before is named */
  readonly policy?: string;
  /** The directory of the state. @default the user's */
  readonly state?: string;
  readonly port?: number;
  readonly open?: true;
  /** `postgres:` or a URL of PostgreSQL: hubs with the same store are one. @default files in the directory of the state */
  readonly store?: string;
  /** How long rows and ended approvals are kept, in days. */
  readonly keepDays: number;
  /** Fields whose values the timeline does not keep. */
  readonly redact?: readonly string[];
  /** A file that says where notices of pending approvals go. */
  readonly notify?: string;
  /** Where people reach the hub, if a proxy leads to it. */
  readonly publicUrl?: string;
  /** Files of a certificate and its key, with which the hub itself serves `publicUrl`. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly quiet?: true;
}

const name = "harness hub";
const dayMs = 86_400_000;

/** What a refused request was, in words. */
const detailsText = (details: object | undefined): string =>
  Object.entries(details ?? {})
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");

const toHubFailure = (error: unknown, { directory, socket }: HubPlace): unknown => {
  if (!HarnessError.isInstance(error)) return error;
  const text = error.message;
  // A socket of another hub has a path, and no port.
  if (error.code === "address_in_use" && isObject(error.cause) && typeof error.cause.port === "number") {
    return toHttpFailure(error, "--port");
  }
  if (error.code === "file_locked" || error.code === "address_in_use") {
    return unavailableError("hub_running", `another hub uses ${directory}: ${text}`, {
      hint: { to: "Open its page", run: "harness hub --open" },
      cause: error,
    });
  }
  if (error.code !== "path_too_long") return error;
  return usageError(
    `the path of the socket is too long: ${socket}`,
    "Name a shorter directory: --state DIR",
    error,
  );
};

/** `harness hub`: one harness for all agents of this user, with an inbox, a timeline and a page. Ends with a signal. */
export const hub = async (
  options: HubOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const place = hubPlaceAt(options.state);
  const pairing = readPairing(options);
  // A second `harness hub --open` or `--pair` is about the first.
  if (pairing !== undefined && (await pairWithRunningHub(place, pairing, version))) return ExitCode.done;
  if (options.open && (await openRunningHub(place))) return ExitCode.done;
  return withCleanup((defer) => serve(options, place, version, defer, pairing));
};

const serve = async (
  options: HubOptions,
  place: HubPlace,
  version: string,
  defer: (cleanup: () => unknown) => void,
  pairing: Pairing | undefined,
): Promise<ExitCode> => {
  const { policy: policyName = "default", notify, publicUrl } = options;
  const log = createLiveLog(io().stderr, name);
  const onError = (error: unknown) => log.say(describeFailure("a failure", error).split("\n"));
  const stopped = createDeferred<void>();
  defer(onStopSignals(() => stopped.resolve()));
  // An agent that names no workspace has none: the directory of this process means nothing to it.
  const workspace = join(place.directory, "no-workspace");
  const loaded = await openPolicy(policyName, workspace);
  for (const line of policyWarnings(loaded)) log.say(line);
  const prices = await pricesOf();
  const told = notify === undefined ? undefined : await readNotifyFile(notify);
  const origin = publicUrl === undefined ? undefined : checkPublicUrl(publicUrl);
  if (pairing !== undefined && !origin?.startsWith("https:")) throw needsTls();
  const tls = await readTls(options);
  const stores = await openHubStores(options.store, place.directory, options.keepDays * dayMs, defer);
  const { approvals, timeline } = stores;
  const former = options.policy === undefined ? await formerPolicyOf(place.directory) : undefined;
  const formerPolicy =
    former === undefined
      ? undefined
      : { file: former, start: hubCommands({ ...options, policy: former }).start };
  const audit = await openDefaultAuditLog("hub");
  defer(() => audit?.close());
  const pushKeys =
    origin === undefined ? undefined : await openPushKeys(join(place.directory, "push-keys.json"));
  const policy = createPolicyHarness({
    policy: loaded,
    // The watch reports a refused file.
    onError: (error) => PolicyError.isInstance(error) || onError(error),
  });
  let watching: PolicyWatch | undefined;
  const served = createHub({
    version,
    commands: hubCommands(options),
    formerPolicy,
    policy,
    approvals,
    timeline,
    riskOf,
    protectionOf: protectionLine,
    costOf: (usage) => costOf(usage, usage.model, prices),
    onError,
    secretFields: options.redact,
    // The shipped policy is replaced with the next version of this command.
    savePolicy:
      policyName === "default"
        ? undefined
        : async (change) => {
            await savePolicy(policy.policy, change);
            await watching?.reload();
          },
    audit,
  });
  defer(() => served.close());
  await served.start();
  const guard = createGuard({ harness: served.exchange, version, onError });
  const hooks = createHookListener({ guard, path: place.guardSocket, onError });
  const server = await serveHub({
    hub: served,
    place,
    handlers: Object.fromEntries(hosts.map(({ id }) => [`/hooks/${id}`, createHookHandler(guard, id)])),
    onError,
    audit: (entry) => {
      audit?.record(entry);
      const what = entry.outcome === "ok" ? (entry.action.split(".").at(-1) ?? "") : "refused";
      log.tell(`${what}: ${detailsText(entry.details)}`);
    },
    port: options.port,
    publicUrl: origin,
    tls,
    pushKey: pushKeys?.publicKey,
  }).catch((error: unknown) => {
    throw toHubFailure(error, place);
  });
  defer(() => server.close());
  if (options.policy !== undefined)
    await keepPolicyName(place.directory, policyName === "default" ? policyName : fromHere(policyName));
  if (told !== undefined) {
    const notices = await startNotices({
      config: told,
      approvals,
      server,
      directory: place.directory,
      onError,
    });
    defer(() => notices.close());
  }
  if (origin !== undefined && pushKeys !== undefined) {
    const pushes = await startPushes({
      ...{ keys: pushKeys, approvals, server, origin, onError },
      directory: place.directory,
    });
    defer(() => pushes.close());
  }
  await hooks.listen();
  // The hooks that wait refuse, and their questions stay.
  defer(() => hooks.close());
  if (policyName !== "default") {
    watching = watchPolicyFile(policy, loaded.file, {
      workspace,
      onReload: (next) => log.say(`policy ${next.name} changed and is now in force`),
      onError: (error) => log.say(`${describePolicyError(error)}; the previous policy stays in force`),
    });
    defer(() => watching?.close());
  }
  log.say(`policy ${loaded.name} from ${loaded.file}`);
  if (formerPolicy !== undefined)
    log.say([
      `careful: this hub had the policy ${formerPolicy.file} before; now the shipped one decides`,
      `to use it again: harness ${formerPolicy.start}; to keep the shipped one: --policy default`,
    ]);
  log.say(`agents: unix:${place.socket} and ${server.url}/ahp, with the token in ${place.tokenFile}`);
  if (stores.place !== undefined) log.say(`store: ${stores.place}, with all hubs that use it`);
  await showPage(server, log, options.open === true);
  if (pairing !== undefined) showPairing(server, pairing, log);
  else if (origin !== undefined) log.say(`from elsewhere: ${origin}; pair a phone with: harness hub --pair`);
  if (!options.quiet)
    log.say("approvals: this page, or harness inbox. SIGTERM or Ctrl-C ends the hub; questions stay");
  await stopped.promise;
  log.say(`ended; questions and timeline are kept in ${stores.place ?? place.directory}`);
  return ExitCode.done;
};

/** Throws a `CliError` where too many devices are paired. */
const showPairing = (server: ServedHub, pairing: Pairing, log: LiveLog): void => {
  try {
    const link = server.devices.pair(pairing);
    writePairing(link);
    log.say(`pairing: ${link.link}`);
    log.say(pairingText(link, pairing));
  } catch (error) {
    throw toPairingFailure(error);
  }
};

/**
 * A program that was started is no page that is open: the link is written in any case. It is valid once: what other programs see of it is of
 * no use when the page is there.
 */
const showPage = async (server: ServedHub, log: LiveLog, opens: boolean): Promise<void> => {
  const link = server.openLink();
  log.say(`page: ${link} (valid once, for ten minutes; another one: harness hub --open)`);
  if (opens && (await openBrowser(link))) log.say(browserText);
};
