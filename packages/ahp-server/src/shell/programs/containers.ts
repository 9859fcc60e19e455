import type { Call, Program } from "../call.ts";
import { isUnknown, shown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { ShellState } from "../shell-state.ts";
import { entries } from "./program-entry.ts";

const runValued =
  "v e p u w h l m c a name volume mount env env-file publish user workdir hostname label network net entrypoint memory cpus device cap-add cap-drop security-opt pid ipc uts userns platform restart add-host dns gpus ulimit tmpfs volumes-from cidfile log-driver pull shm-size runtime cgroup-parent group-add init-path link expose";

/** Whether a container gets what is the machine's own. */
const judgeRights = (call: Call, args: readonly string[]): void => {
  const { run, state, name } = call;
  const options = readOptions(args, runValued, true);
  const privileged =
    options.has("privileged", "device") ||
    options
      .values("pid", "ipc", "uts", "userns", "net", "network")
      .some((value) => value === "host" || value.startsWith("container:")) ||
    options.values("cap-add").length > 0 ||
    options
      .values("security-opt")
      .some((value) => /unconfined|disable|no-new-privileges[:=]false/.test(value));
  if (privileged)
    run.report("privilege", "container-rights", `${name} gives a container rights over this machine`);
  for (const value of [
    ...options.values("v", "volume"),
    ...options.values("mount").flatMap((each) => /(?:source|src)=([^,]+)/.exec(each)?.[1] ?? []),
  ]) {
    const source = value.split(":")[0] ?? "";
    if (/^(?:\/|~\/?|\/(?:etc|root|home|var|usr|proc|sys|dev|boot)(?:\/.*)?|.*docker\.sock)$/.test(source))
      run.report("privilege", "container-rights", `${name} gives a container ${shown(source)}`);
    if (/^[./~]/.test(source) || isUnknown(source)) {
      if (/:ro(?:,|$)/.test(value)) run.read(source, state);
      else run.write(source, state);
    }
  }
  for (const path of options.values("env-file")) run.read(path, state);
};

/** What runs inside a container is judged as if it ran somewhere else. */
const runInside = (call: Call, words: readonly string[]): void => {
  if (words.length > 0) call.run.exec(words, new ShellState(undefined), call.stdin);
};

const docker: Program = (call) => {
  const { run, args, name, state } = call;
  const top = readOptions(args, "H c l context host log-level config f p file project-name env-file", true);
  let [command = "", ...rest] = top.operands;
  if (
    /^(?:container|image|volume|network|system|compose|builder|buildx|stack|service|context|pod|machine)$/.test(
      command,
    )
  ) {
    const group = command;
    const inner = readOptions(rest, "f p file project-name env-file profile", true).operands;
    [command = "", ...rest] = inner;
    if (command === "" || command === "use") return undefined;
    if (group === "system" && command === "df") return undefined;
  }
  if (top.has("H", "host") || top.has("context"))
    run.report("unknown", "unknown-address", `${name} speaks to another machine`);
  if (
    /^(?:ps|images|ls|list|logs|inspect|stats|top|version|info|history|port|diff|search|events|config|df|help)$/.test(
      command,
    )
  )
    return undefined;
  if (/^(?:rm|rmi|prune|kill|down|remove)$/.test(command)) {
    const options = readOptions(rest);
    const sweeping =
      command === "prune" ||
      options.has("f", "force", "v", "volumes", "a", "all", "rmi") ||
      command === "remove";
    run.report(
      sweeping ? "destructive" : "write",
      "deletes-containers",
      `${name} ${command} takes containers, images or volumes away`,
    );
    return undefined;
  }
  if (/^(?:push|login|save|export|cp|commit)$/.test(command)) {
    run.report(
      command === "push" ? "exfiltration" : "write",
      command === "push" ? "sends-data" : "changes-things",
      `${name} ${command} moves files`,
    );
    if (command === "cp")
      for (const path of rest.filter((each) => !/^-|^[^/.~]+:/.test(each))) run.write(path, state);
    return undefined;
  }
  if (/^(?:run|exec|create)$/.test(command)) {
    judgeRights(call, rest);
    const options = readOptions(rest, runValued, true);
    const entry = options.values("entrypoint");
    run.report("write", "runs-container", `${name} ${command} runs something in a container`);
    runInside(call, [...entry, ...options.operands.slice(1)]);
    return undefined;
  }
  if (command === "build" && readOptions(rest, "f t build-arg target platform").uncertain)
    run.report("unknown", "unknown-arguments", `some arguments of ${name} are not known`);
  if (
    /^(?:build|bake|pull|start|stop|restart|up|tag|load|import|rename|pause|unpause|wait|attach|update|connect|disconnect|scale|init|deploy)$/.test(
      command,
    )
  ) {
    run.report("write", "changes-containers", `${name} ${command} changes containers or images`);
    return undefined;
  }
  if (command !== "")
    run.report("unknown", "unknown-program", `it is not known what ${name} ${shown(command)} does`);
  return undefined;
};

const kubectl: Program = (call) => {
  const { run, args, name, state } = call;
  run.noteNetwork();
  const valued =
    "n f c l o s p namespace filename context cluster container selector output kubeconfig image token server";
  const options = readOptions(args, valued, true);
  const [command = "", ...rest] = options.operands;
  const inner = readOptions(rest, valued);
  if (
    /^(?:get|describe|logs|top|version|explain|api-resources|api-versions|cluster-info|diff|events|wait|auth|options|help|config)$/.test(
      command,
    )
  ) {
    if (/\bsecrets?\b/.test(rest.join(" "))) {
      run.noteSecret();
      run.report("unknown", "uses-keys", `${name} shows secrets`);
      return "\uE002";
    }
    run.report("write", "network", `${name} asks a cluster`);
    return undefined;
  }
  if (/^(?:delete|drain|cordon|taint|evict)$/.test(command) || (command === "replace" && inner.has("force")))
    run.report("destructive", "destroys-elsewhere", `${name} ${command} takes things of a cluster away`);
  if (command === "exec" || command === "debug" || command === "run") {
    const at = args.indexOf("--");
    runInside(call, at === -1 ? rest.slice(1).filter((arg) => !arg.startsWith("-")) : args.slice(at + 1));
  }
  if (command === "cp") {
    for (const path of rest.filter((each) => !each.includes(":") && !each.startsWith("-")))
      run.read(path, state);
    run.report("exfiltration", "remote-copy", `${name} copies files to or from a cluster`);
  }
  if (command === "port-forward" || command === "proxy")
    run.report("exfiltration", "tunnel", `${name} opens a tunnel`);
  for (const path of inner.values("f", "filename"))
    if (!path.includes("://") && path !== "-") run.read(path, state);
  run.report("write", "changes-elsewhere", `${name} ${shown(command)} changes a cluster`);
  return undefined;
};

export const containerPrograms = [
  ...entries("docker podman nerdctl docker-compose podman-compose lxc incus buildah", docker),
  ...entries("kubectl oc k3s k", kubectl),
];
