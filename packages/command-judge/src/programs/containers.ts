import type { Parsed } from "./parse-arguments.ts";
import { acts, byWords, type Call, type Family, type Judge, type Spec } from "./spec.ts";

/** What a container gets of this machine, and what runs in it. */
const runs = (call: Call, parsed: Parsed): void => {
  const { walk, scope, name } = call;
  const grants = (what: string): void =>
    walk.report("privilege", "container-rights", `${name} grants a container ${what}`);
  if (parsed.has("--privileged", "--device", "--cap-add")) grants("rights over this machine");
  for (const value of parsed.values("--pid", "--ipc", "--uts", "--userns", "--net", "--network"))
    if (/^host$|^container:/.test(value)) grants("rights over this machine");
  for (const value of parsed.values("--security-opt"))
    if (/unconfined|disable|no-new-privileges[:=]false/.test(value)) grants("rights over this machine");
  const mounts = [
    ...parsed.values("-v", "--volume"),
    ...parsed.values("--mount").map((each) => /(?:source|src)=([^,]+)/.exec(each)?.[1] ?? ""),
  ];
  for (const mount of mounts) {
    const source = mount.split(":")[0] ?? "";
    if (/^(?:\/|~\/?|\/(?:etc|root|home|var|usr|proc|sys|dev|boot)(?:\/.*)?|.*docker\.sock)$/.test(source))
      grants(source);
    if (/^[./~\uE000]/.test(source)) walk.write(source, scope);
  }
  const words = [...parsed.values("--entrypoint"), ...parsed.operands.slice(1)];
  if (words.length > 0) walk.run(words, scope.elsewhere(), undefined);
};

const runOptions =
  "-[itdP] -v=text -e=text -p=text -u=text -w=text -h=text -l=text -m=text -c=text -a=text --rm --interactive --tty --detach --name=text --volume=text --mount=text --env=text --env-file=read --publish=text --user=text --workdir=text --hostname=text --label=text --network=text --net=text --entrypoint=text --memory=text --cpus=text --device=text --cap-add=text --cap-drop=text --security-opt=text --pid=text --ipc=text --uts=text --userns=text --platform=text --restart=text --init --read-only --tmpfs=text --pull=text --privileged --shm-size=text --no-deps -T --quiet --add-host=text --gpus=text";
const runsInside: Spec = {
  style: "posix",
  usage: `${runOptions} text...`,
  does: "execute runs-container runs something in a container",
  judge: runs,
};

const commands: Family = {
  "ps images ls list logs stats top version info history port df events":
    "-[aqfnst] --all --quiet --filter=text --format=text --no-trunc --tail=text --since=text --until=text --follow --timestamps --size --latest --no-stream text...",
  inspect: { usage: "-s -f=text --format=text --type=text text...", secrets: true },
  search: "--limit=number --filter=text text... => network network asks a registry",
  "run exec create": runsInside,
  "rm rmi kill remove down":
    "-[s] -f!destructive -v!destructive -a!destructive -l --force!destructive --volumes!destructive --all!destructive --rmi=text!destructive --signal=text --remove-orphans text... => write deletes-containers deletes containers, images or volumes",
  prune:
    "-[fa] --force --all --volumes --filter=text text... => destructive deletes-containers deletes whatever is not used",
  "build bake pull start stop restart up tag load import rename pause unpause wait attach update connect disconnect scale init deploy":
    "-[dtqi] -t=text -f=read --tag=text --file=read --detach --build --build-arg=text --target=text --platform=text --no-cache --pull --quiet --push!exfiltration --wait --force-recreate text... => execute changes-containers changes or runs containers",
  "commit save export cp login": "=> unknown changes-containers moves files or credentials",
  push: acts("exfiltration sends-data publishes an image", { network: true }),
};

/** The file of the workspace names what is built, fetched and run, for sub-commands that show, too. */
const composing: Spec = {
  usage: "-f=read -p=text --file=read --project-name=text --profile=text --env-file=read",
  commands,
  does: "execute runs-container does what a file of the workspace says",
};

const judgeCluster = byWords(
  [
    /^(?:delete|drain|cordon|taint|evict|replace)\b/,
    "destructive destroys-elsewhere deletes parts of a cluster",
  ],
  [/^(?:exec|run|debug)\b/, "execute runs-container runs something in a cluster"],
  [/^(?:cp|port-forward|proxy)\b/, "exfiltration remote-copy connects this machine with a cluster"],
  [/^(?:get|describe)\b.*\bsecrets?\b/, "unknown uses-keys shows secrets of a cluster"],
  [
    /^(?:get|describe|logs|top|version|explain|api-resources|cluster-info)(?: |$)/,
    "network network asks a cluster",
  ],
  [/^/, "execute changes-elsewhere changes a cluster"],
);

const kubectl: Judge = (call, parsed) => {
  const { args, walk, scope } = call;
  const at = args.indexOf("--");
  if (at !== -1) walk.run(args.slice(at + 1), scope.elsewhere(), undefined);
  judgeCluster(call, parsed);
};

/** Containers and clusters. */
export const containers: Family = {
  "docker podman nerdctl": {
    usage: "-[Dv] -H=unknown --host=unknown --context=unknown -c=unknown --version",
    commands: {
      ...commands,
      "container image volume network system builder buildx stack service": { commands },
      compose: composing,
    },
  },
  "docker-compose podman-compose": composing,
  "lxc incus buildah": "=> unknown changes-containers changes containers",
  "kubectl oc k3s k": { style: "words", network: true, judge: kubectl },
  "helm terraform tofu pulumi aws gcloud az gh glab doctl heroku flyctl fly vercel netlify wrangler firebase serverless sls sam cdk eksctl kustomize argocd stripe":
    {
      style: "words",
      network: true,
      judge: byWords(
        [
          /\b(?:destroy|delete|rm|uninstall|rb|terminate-\w+|delete-[\w-]+|purge|taint)\b|\bstate rm\b/,
          "destructive destroys-elsewhere deletes things elsewhere",
        ],
        [
          /\bgist create|\bs3 (?:cp|sync|mv)\b|\bstorage cp\b|\brelease (?:create|upload)|\bsecret set|\bput-object\b/,
          "exfiltration sends-data sends files elsewhere",
        ],
        [/^/, "execute changes-elsewhere asks or changes a service elsewhere"],
      ),
    },
};
