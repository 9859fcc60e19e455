import { isUnknown } from "../marks.ts";
import { isLocal, noteHost } from "./hosts.ts";
import type { Parsed } from "./parse-arguments.ts";
import { isOpenInput } from "./reads-commands.ts";
import { acts, type Call, type Family, type Spec } from "./spec.ts";

const sends = ({ walk, name }: Call, what: string): void => {
  walk.network(true);
  walk.report("exfiltration", "sends-data", `${name} sends ${what} to another machine`);
};

const curl = (call: Call, parsed: Parsed): void => {
  const { walk, scope, name } = call;
  const targets = [...parsed.operands, ...parsed.values("--url")];
  if (targets.length === 0 && !parsed.has("-V", "--version"))
    walk.unknown("unknown-address", `the policy cannot tell what ${name} connects to`);
  const isProxied = parsed.has("-x", "--proxy", "--socks5", "--connect-to", "--resolve", "--preproxy");
  const isRemote = isProxied || targets.length === 0 || targets.some((target) => !isLocal(target));
  const bodies = parsed.values("-d --data --data-raw --data-binary --data-urlencode --json -F --form");
  for (const body of bodies) {
    const path = /(?:^|=)[@<]([^;]+)/.exec(body)?.[1];
    if (path !== undefined && path !== "-") walk.read(path, scope);
  }
  const method = parsed.values("-X", "--request", "--method")[0]?.toUpperCase() ?? "GET";
  const hasBody =
    bodies.length > 0 ||
    parsed.has("-T", "--upload-file", "--post-file", "--post-data", "--body-file", "--body-data");
  const isSending = hasBody || !/^(?:GET|HEAD|OPTIONS)$/.test(method);
  if (isProxied) noteHost(call, "a proxy");
  if (isSending && isRemote) sends(call, "data");
  else if (isSending)
    walk.report("write", "changes-service", `${name} changes things through a service of this machine`);
  const headers = parsed.values("-H --header -b --cookie -A --user-agent -e --referer -u --user");
  for (const text of headers) {
    if (text.startsWith("@")) walk.read(text.slice(1), scope);
    if (isRemote && (isUnknown(text) || text.startsWith("@"))) sends(call, "what is not known");
  }
  for (const text of parsed.values("-w", "--write-out")) {
    if (text.startsWith("@")) walk.read(text.slice(1), scope);
    if (text.startsWith("@") || isUnknown(text) || /%output\{/.test(text))
      walk.unknown("unknown-word", `${name} may write a file that the format names`);
  }
  if (parsed.has("-O", "--remote-name", "-J", "--remote-header-name"))
    walk.report("write", "writes", `${name} writes a file`);
};

const netcat = (call: Call, parsed: Parsed): void => {
  if (parsed.has("-z") && call.stdin === undefined) noteHost(call, parsed.operands[0] ?? "");
  else if (parsed.has("-l", "--listen") || !isLocal(parsed.operands[0] ?? ""))
    sends(call, "whatever it reads");
  else call.walk.report("write", "changes-service", `${call.name} connects to a service of this machine`);
};

const isRemotePath = (path: string): boolean => /^[^/.~][^/]*:|^\w+:\/\//.test(path);

/** `scp`, `rsync`: the last operand is written, the others are read; on this machine or on another. */
const copies = (call: Call, parsed: Parsed): void => {
  const { walk, scope, name } = call;
  const target = parsed.operands.at(-1) ?? "";
  for (const path of parsed.operands.slice(0, -1)) {
    if (isRemotePath(path)) noteHost(call, path);
    else if (name === "rsync" || parsed.has("-r")) walk.tree(path, scope);
    else walk.read(path, scope);
  }
  if (!isRemotePath(target)) walk.write(target, scope);
  else sends(call, "files");
};

const ssh = (call: Call, parsed: Parsed): void => {
  const { walk, scope, stdin, name } = call;
  const [host = "", ...words] = parsed.operands;
  noteHost(call, host);
  if (words.length > 0) walk.script(words.join(" "), scope.elsewhere(), undefined);
  else {
    if (isOpenInput(stdin)) walk.readsCommands(name);
    walk.unknown("remote-shell", `${name} opens a shell on another machine`);
  }
  if (stdin !== undefined) sends(call, "its input");
};

const lookup = (call: Call, parsed: Parsed): void => {
  if (call.stdin !== undefined) sends(call, "its input");
  if (call.name.startsWith("ping") && parsed.has("-p")) sends(call, "data in its packets");
};

const http = (call: Call, parsed: Parsed): void => {
  const [first = "", ...rest] = parsed.operands;
  const hasMethod = /^[A-Z]+$/.test(first);
  const [target = "", ...items] = hasMethod ? rest : [first, ...rest];
  noteHost(call, target);
  for (const item of items) {
    const path = /(?:=|:=|)@(.+)$/.exec(item)?.[1];
    if (path !== undefined) call.walk.read(path, call.scope);
  }
  const isSending =
    items.some((item) => /[^=]=[^=]|:=|@/.test(item)) ||
    (hasMethod && !/^(?:GET|HEAD|OPTIONS)$/.test(first)) ||
    call.stdin !== undefined;
  if (isSending && !isLocal(target)) sends(call, "data");
  else if (isSending)
    call.walk.report("write", "changes-service", "it changes things through a service of this machine");
};

const sender: Spec = {
  style: "words",
  does: "exfiltration sends-data sends what it is given to another machine",
  judge: (call) => {
    for (const arg of call.args) if (/^[./~]|^\w[\w.-]*\.\w+$/.test(arg)) call.walk.read(arg, call.scope);
    call.walk.network(true);
  },
};
const serves: Spec = acts("exfiltration serves-files opens this machine to others", { network: true });
const connects = "network network connects to another machine";

/** Programs that connect to other machines. */
export const network: Family = {
  curl: {
    usage:
      "-[sSLfkigIvNOJ46#0Gq] -d=text -F=text -T=read -X=text -H=text -o=write -A=text -b=text -c=write -e=text -u=text -x=text -m=number -K=unknown -D=write -w=text -r=text -V -E=read --data=text --data-raw=text --data-binary=text --data-urlencode=text --data-ascii=text --json=text --form=text --upload-file=read --request=text --header=text --output=write --user-agent=text --cookie=text --cookie-jar=write --referer=text --user=text --proxy=text --max-time=number --connect-timeout=number --config=unknown --cert=read --key=read --dump-header=write --range=text --write-out=text --url=host --resolve=text --connect-to=text --retry=number --retry-delay=number --silent --show-error --location --fail --insecure --include --head --verbose --no-buffer --remote-name --remote-header-name --compressed --get --http1.1 --http2 --fail-with-body --progress-bar --socks5=text --preproxy=text --version --retry-connrefused --globoff host...",
    judge: curl,
  },
  "wget wget2": {
    usage:
      "-[qcNSnv46] -O=write -o=write -a=write -P=write -U=text -T=number -t=number -i=unknown -e=unknown --quiet --no-verbose --header=text --post-data=text --post-file=read --body-data=text --body-file=read --method=text --output-document=write --output-file=write --directory-prefix=write --user-agent=text --timeout=number --tries=number --no-check-certificate --spider --server-response --continue --show-progress --use-askpass=shell --input-file=unknown --execute=unknown host...",
    does: "write writes writes what it fetches",
    unless: "--spider",
    judge: curl,
  },
  "http https xh": {
    usage: "-[bhvF] --body --headers --verbose --follow --ignore-stdin -o=write text...",
    judge: http,
  },
  "nc ncat netcat pwncat": {
    usage:
      "-[lvnuzkN46dU] -p=number -w=number -s=text -i=number -q=number -e=shell!exfiltration -c=shell!exfiltration --exec=shell!exfiltration --sh-exec=shell!exfiltration --listen -x=text -X=text text...",
    network: true,
    judge: netcat,
  },
  socat: {
    ...sender,
    judge: ({ args, walk, scope }) => {
      for (const arg of args) {
        const text = /^(?:exec|system|shell):([^,]*)/i.exec(arg)?.[1];
        if (text !== undefined) walk.script(text.replace(/^["']|["']$/g, ""), scope.fresh(), undefined);
      }
      walk.network(true);
    },
  },
  "ssh autossh mosh": {
    style: "posix",
    usage:
      "-[46AaCfgGKkMNnqTtVvXxYy] -b=text -c=text -D=text!exfiltration -E=write -e=text -F=unknown -i=read -J=text -L=text!exfiltration -l=text -m=text -O=text -o=unknown -p=number -R=text!exfiltration -S=unknown -W=text!exfiltration -w=text text...",
    judge: ssh,
  },
  "sftp ssh-copy-id": sender,
  scp: {
    usage: "-[346BCpqrTv] -c=text -F=unknown -i=read -J=text -l=number -o=unknown -P=number -S=shell text...",
    judge: copies,
  },
  rsync: {
    usage:
      "-[avzrlptgoDhnPqucHAXxWS] -e=shell -f=text --rsh=shell --archive --verbose --compress --recursive --dry-run --progress --partial --human-readable --exclude=text --include=text --exclude-from=read --delete!destructive --delete-before!destructive --delete-after!destructive --delete-excluded!destructive --remove-source-files!destructive --rsync-path=shell --stats --checksum --update --links --perms --times --info=text text...",
    judge: copies,
  },
  "dig nslookup host drill kdig whois": {
    usage: "-[46trxv] -p=number -t=text -c=text -f=read!exfiltration host...",
    does: connects,
    judge: lookup,
  },
  "ping ping6 fping traceroute tracepath mtr": {
    usage:
      "-[46nqvbrR] -c=number -i=number -W=number -w=number -s=number -t=number -I=text -m=number -p=text host...",
    does: connects,
    judge: lookup,
  },
  "mail mailx sendmail mutt telnet ftp lftp tftp gsutil croc magic-wormhole wormhole transfer rclone s3cmd mosquitto_pub nmap masscan arp-scan":
    sender,
  "ngrok cloudflared localtunnel lt frpc chisel bore tailscale http-server serve": serves,
};
