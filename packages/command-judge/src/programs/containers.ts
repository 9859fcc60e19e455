import type { Parsed } from "./parse-arguments.ts";
import { acts, type Call, type Family, type Spec } from "./spec.ts";

const shows = (options: string): Spec => ({ options, operands: "text..." });
const changes = (options = ""): Spec => ({
  options,
  operands: "text...",
  does: ["execute", "changes-containers", "changes or runs containers"],
});
const takesAway = (options: string): Spec => ({
  options,
  operands: "text...",
  does: ["write", "deletes-containers", "deletes containers, images or volumes"],
});

/** What a container gets of this machine, and what runs in it. */
const runs = (call: Call, parsed: Parsed): undefined => {
  const { walk, scope, name } = call;
  const gives = (what: string): void =>
    walk.report("privilege", "container-rights", `${name} gives a container ${what}`);
  if (parsed.has("--privileged", "--device", "--cap-add")) gives("rights over this machine");
  for (const value of parsed.values("--pid", "--ipc", "--uts", "--userns", "--net", "--network"))
    if (/^host$|^container:/.test(value)) gives("rights over this machine");
  for (const value of parsed.values("--security-opt"))
    if (/unconfined|disable|no-new-privileges[:=]false/.test(value)) gives("rights over this machine");
  const mounts = [
    ...parsed.values("-v", "--volume"),
    ...parsed.values("--mount").map((each) => /(?:source|src)=([^,]+)/.exec(each)?.[1] ?? ""),
  ];
  for (const mount of mounts) {
    const source = mount.split(":")[0] ?? "";
    if (/^(?:\/|~\/?|\/(?:etc|root|home|var|usr|proc|sys|dev|boot)(?:\/.*)?|.*docker\.sock)$/.test(source))
      gives(source);
    if (/^[./~\uE000]/.test(source)) walk.write(source, scope);
  }
  const words = [...parsed.values("--entrypoint"), ...parsed.operands.slice(1)];
  if (words.length > 0) walk.run(words, Object.assign(scope.fresh(), { directories: undefined }), undefined);
};

const runOptions =
  "-[itdP] -v=text -e=text -p=text -u=text -w=text -h=text -l=text -m=text -c=text -a=text --rm --interactive --tty --detach --name=text --volume=text --mount=text --env=text --env-file=read --publish=text --user=text --workdir=text --hostname=text --label=text --network=text --net=text --entrypoint=text --memory=text --cpus=text --device=text --cap-add=text --cap-drop=text --security-opt=text --pid=text --ipc=text --uts=text --userns=text --platform=text --restart=text --init --read-only --tmpfs=text --pull=text --privileged --shm-size=text --no-deps -T --quiet --add-host=text --gpus=text";
const runsInside: Spec = {
  style: "posix",
  options: runOptions,
  operands: "text...",
  does: ["execute", "runs-container", "runs something in a container"],
  judge: runs,
};

const named = (names: string, spec: Spec): Record<string, Spec> =>
  Object.fromEntries(names.split(" ").map((name) => [name, spec]));

const commands: Readonly<Record<string, Spec>> = {
  ...named(
    "ps images ls list logs stats top version info history port df events",
    shows(
      "-[aqfnst] --all --quiet --filter=text --format=text --no-trunc --tail=text --since=text --until=text --follow --timestamps --size --latest --no-stream",
    ),
  ),
  inspect: { ...shows("-s -f=text --format=text --type=text"), secrets: true },
  search: { ...shows("--limit=number --filter=text"), does: ["network", "network", "asks a registry"] },
  ...named("run exec create", runsInside),
  ...named(
    "rm rmi kill remove down",
    takesAway(
      "-[s] -f!destructive -v!destructive -a!destructive -l --force!destructive --volumes!destructive --all!destructive --rmi=text!destructive --signal=text --remove-orphans",
    ),
  ),
  prune: {
    ...takesAway("-[fa] --force --all --volumes --filter=text"),
    does: ["destructive", "deletes-containers", "deletes whatever is not used"],
  },
  ...named(
    "build bake pull start stop restart up tag load import rename pause unpause wait attach update connect disconnect scale init deploy",
    changes(
      "-[dtqi] -t=text -f=read --tag=text --file=read --detach --build --build-arg=text --target=text --platform=text --no-cache --pull --quiet --push!exfiltration --wait --force-recreate",
    ),
  ),
  ...named(
    "commit save export cp login",
    acts("unknown", "changes-containers", "moves files or credentials"),
  ),
  push: acts("exfiltration", "sends-data", "publishes an image", { network: true }),
};

/** The file of the workspace names what is built, fetched and run, for sub-commands that show, too. */
const composing: Spec = {
  options: "-f=read -p=text --file=read --project-name=text --profile=text --env-file=read",
  commands,
  does: ["execute", "runs-container", "does what a file of the workspace says"],
};

const kubectl = (call: Call, parsed: Parsed): undefined => {
  const { walk, scope, args } = call;
  const [command = "", ...rest] = parsed.operands;
  walk.network(true);
  if (/^(?:delete|drain|cordon|taint|evict|replace)$/.test(command))
    walk.report("destructive", "destroys-elsewhere", `kubectl ${command} deletes parts of a cluster`);
  else if (command === "exec" || command === "run" || command === "debug") {
    const at = args.indexOf("--");
    if (at !== -1)
      walk.run(args.slice(at + 1), Object.assign(scope.fresh(), { directories: undefined }), undefined);
    walk.report("execute", "runs-container", `kubectl ${command} runs something in a cluster`);
  } else if (/^(?:cp|port-forward|proxy)$/.test(command))
    walk.report("exfiltration", "remote-copy", `kubectl ${command} connects this machine with a cluster`);
  else if (/^(?:get|describe|logs|top|version|explain|api-resources|cluster-info)$/.test(command)) {
    walk.report("network", "network", "kubectl asks a cluster");
    if (/\bsecrets?\b/.test(rest.join(" "))) walk.unknown("uses-keys", "kubectl shows secrets of a cluster");
  } else walk.report("execute", "changes-elsewhere", `kubectl ${command} changes a cluster`);
};

/** Containers and clusters. */
export const containers: Family = {
  "docker podman nerdctl": {
    options: "-[Dv] -H=unknown --host=unknown --context=unknown -c=unknown --version",
    commands: {
      ...commands,
      ...named("container image volume network system builder buildx stack service", { commands }),
      compose: composing,
    },
  },
  "docker-compose podman-compose": composing,
  "lxc incus buildah": acts("unknown", "changes-containers", "changes containers"),
  "kubectl oc k3s k": {
    style: "words",
    judge: (call, parsed) =>
      kubectl(call, { ...parsed, operands: call.args.filter((arg) => !arg.startsWith("-")) }),
  },
  "helm terraform tofu pulumi aws gcloud az gh glab doctl heroku flyctl fly vercel netlify wrangler firebase serverless sls sam cdk eksctl kustomize argocd stripe":
    {
      style: "words",
      judge: ({ args, walk, name }) => {
        const text = args.filter((arg) => !arg.startsWith("-")).join(" ");
        walk.network(true);
        if (
          /\b(?:destroy|delete|rm|uninstall|rb|terminate-\w+|delete-[\w-]+|purge|taint)\b|\bstate rm\b/.test(
            text,
          )
        )
          walk.report("destructive", "destroys-elsewhere", `${name} deletes things elsewhere`);
        else if (
          /\bgist create|\bs3 (?:cp|sync|mv)\b|\bstorage cp\b|\brelease (?:create|upload)|\bsecret set|\bput-object\b/.test(
            text,
          )
        )
          walk.report("exfiltration", "sends-data", `${name} sends files elsewhere`);
        else walk.report("execute", "changes-elsewhere", `${name} asks or changes a service elsewhere`);
        return undefined;
      },
    },
};
