import type { Call, Program } from "../call.ts";
import { isLocal } from "../destinations.ts";
import { isData, isSecret, isUnknown, namesMark, shown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

const exfiltrates = ({ run, name }: Call, what: string): void => {
  run.noteNetwork();
  run.report("exfiltration", "sends-data", `${name} sends ${what} to another machine`);
};

/** What stands in a URL or a name may be what is to be sent. */
const judgeTargets = (call: Call, targets: readonly string[]): boolean => {
  const { run, name } = call;
  const remote = targets.filter((target) => !isLocal(target));
  if (remote.length === 0) return false;
  run.noteNetwork();
  run.report("write", "network", `${name} speaks to ${shown(remote.join(" "))}`);
  for (const target of remote) {
    if (isSecret(target)) run.report("exfiltration", "sends-secret", `${name} puts a secret into an address`);
    else if (isData(target) && !target.includes(namesMark))
      run.report("exfiltration", "sends-data", `${name} puts what a program printed into an address`);
    else if (isUnknown(target))
      run.report("unknown", "unknown-address", `the address that ${name} speaks to is not known`);
    if (/^file:/i.test(target)) run.read(target.replace(/^file:\/*/i, "/"), call.state);
  }
  return true;
};

const curlValued =
  "d F T X H o A b c e u x m K E D r w z C y Y Q P t U data data-raw data-binary data-urlencode data-ascii json form form-string upload-file request header output user-agent cookie cookie-jar referer user proxy max-time connect-timeout config cert key cacert capath dump-header range write-out url resolve retry retry-delay limit-rate output-dir interface unix-socket connect-to socks5 preproxy proxy-user oauth2-bearer url-query aws-sigv4";

const curl: Program = (call) => {
  const { run, state, args, name } = call;
  const options = readOptions(args, curlValued);
  const bodies = options.values(
    "d",
    "data",
    "data-raw",
    "data-binary",
    "data-urlencode",
    "data-ascii",
    "json",
    "F",
    "form",
    "form-string",
    "url-query",
  );
  const uploads = options.values("T", "upload-file");
  const targets = [...options.operands, ...options.values("url")];
  for (const body of bodies) {
    const path = /(?:^|=)[@<]([^;]+)/.exec(body)?.[1];
    if (path !== undefined && path !== "-") run.read(path, state);
  }
  for (const path of [...uploads, ...options.values("K", "config", "E", "cert", "key")])
    if (path !== "-") run.read(path, state);
  if (options.has("K", "config"))
    run.report("unknown", "unknown-arguments", `${name} takes its arguments from a file`);
  for (const path of options.values("o", "output", "c", "cookie-jar", "D", "dump-header", "output-dir"))
    run.write(path, state);
  if (options.has("O", "remote-name", "remote-name-all", "J")) {
    run.report("write", "changes-files", `${name} writes a file`);
    run.write(`./${namesMark}`, state);
  }
  const proxies = options.values("x", "proxy", "socks5", "preproxy", "connect-to", "resolve");
  if (options.uncertain)
    run.report("unknown", "unknown-arguments", `some arguments of ${name} are not known`);
  const remote = judgeTargets(call, targets) || proxies.length > 0;
  if (proxies.length > 0) {
    run.noteNetwork();
    run.report("write", "network", `${name} goes through ${shown(proxies.join(" "))}`);
  }
  const method = options.values("X", "request")[0]?.toUpperCase();
  const sends =
    bodies.length > 0 ||
    uploads.length > 0 ||
    (method !== undefined && !/^(?:GET|HEAD|OPTIONS)$/.test(method));
  const headers = options.values(
    "H",
    "header",
    "b",
    "cookie",
    "A",
    "user-agent",
    "e",
    "referer",
    "u",
    "user",
    "oauth2-bearer",
  );
  if (remote && sends) exfiltrates(call, "data");
  else if (sends)
    run.report("write", "changes-things", `${name} changes things through a service of this machine`);
  for (const header of headers) if (header.startsWith("@")) run.read(header.slice(1), state);
  if (remote && headers.some((header) => isData(header) || header.startsWith("@")))
    exfiltrates(call, "what a program printed");
  if (targets.length === 0 && bodies.length === 0 && args.length > 0)
    run.report("unknown", "unknown-address", `the address that ${name} speaks to is not known`);

  return undefined;
};

const wget: Program = (call) => {
  const { run, state, args } = call;
  const options = readOptions(
    args,
    "O o a P U T t e i B D I X header post-data post-file body-data body-file method output-document output-file directory-prefix user-agent input-file execute use-askpass load-cookies password user http-password",
  );
  for (const path of options.values("post-file", "body-file", "i", "input-file", "load-cookies"))
    run.read(path, state);
  const targets = options.values("O", "output-document");
  for (const path of [...targets, ...options.values("o", "a", "output-file", "P", "directory-prefix")])
    run.write(path, state);
  for (const text of options.values("use-askpass")) run.script(text, state.clone(), undefined);
  const remote = judgeTargets(call, options.operands);
  if (options.has("post-data", "post-file", "body-data", "body-file", "method")) {
    if (remote) exfiltrates(call, "data");
    else run.report("write", "changes-things", "wget changes things through a service of this machine");
  }
  if (remote && options.values("header", "U", "user-agent").some(isData))
    exfiltrates(call, "what a program printed");
  if (options.uncertain) run.report("unknown", "unknown-arguments", "some arguments of wget are not known");
  if (
    !options.has("spider") &&
    !targets.every((path) => path === "-" && targets.length > 0) &&
    targets.length === 0
  )
    run.report("write", "changes-files", "wget writes files");
  return undefined;
};

/** A channel for whatever is fed into it. */
const netcat: Program = (call) => {
  const { run, args, state, stdin, name } = call;
  const options = readOptions(args, "p s w i q e c g G I O P T X x sh-exec exec");
  for (const text of [...options.values("e", "exec", "c", "sh-exec")]) {
    run.report("exfiltration", "remote-shell", `${name} hands a program to another machine`);
    run.script(text, state.clone(), undefined);
  }
  if (options.has("z") && stdin === undefined) {
    judgeTargets(call, options.operands.slice(0, 1));
    return undefined;
  }
  const remote = options.has("l", "listen") || !isLocal(options.operands[0] ?? "");
  if (remote) exfiltrates(call, "whatever it reads");
  else run.report("write", "changes-things", `${name} speaks to a service of this machine`);
  return undefined;
};

const socat: Program = (call) => {
  const { run, args, state } = call;
  for (const arg of args) {
    const text = /^(?:exec|system|shell):(.*?)(?:,(?:pty|stderr|setsid|sigint|sane)\b.*)?$/is.exec(arg)?.[1];
    if (text !== undefined) {
      run.report("exfiltration", "remote-shell", "socat hands a program to another machine");
      run.script(text.replace(/^["']|["']$/g, ""), state.clone(), undefined);
    }
    const file = /^(?:file|open|create|gopen):([^,]+)/i.exec(arg)?.[1];
    if (file !== undefined) run.read(file, state);
  }
  exfiltrates(call, "whatever it reads");
  return undefined;
};

/** Questions that leave the machine: names, addresses, whole domains. */
const lookup: Program = (call) => {
  const options = readOptions(call.args, "c i I s t W w M m p T x port f");
  if (call.name.startsWith("ping") && options.values("p").some((value) => isData(value) || isUnknown(value)))
    exfiltrates(call, "data in its packets");
  const [payload] = options.values("p");
  if (call.name.startsWith("ping") && payload !== undefined) exfiltrates(call, "data in its packets");
  for (const path of options.values("f")) if (call.name === "dig") call.run.read(path, call.state);
  judgeTargets(call, options.operands);
  if (call.stdin !== undefined && call.stdin !== "" && /nslookup|dig/.test(call.name))
    exfiltrates(call, "what it is fed");
  return undefined;
};

/** Programs that send what they are given by their nature. */
const sender: Program = (call) => {
  for (const path of call.args.filter((arg) => /^[./~]|^\w[\w.-]*\.\w+$/.test(arg)))
    call.run.read(path, call.state);
  exfiltrates(call, "data");
  return undefined;
};

const http: Program = (call) => {
  const words = readOptions(call.args, "a A o s p auth output session verify timeout").operands;
  const [first = ""] = words;
  const method = /^[A-Z]+$/.test(first) ? first : undefined;
  const [target = "", ...items] = method === undefined ? words : words.slice(1);
  const remote = judgeTargets(call, [target]);
  for (const item of items) {
    const path = /(?:=|:=|)@(.+)$/.exec(item)?.[1];
    if (path !== undefined) call.run.read(path, call.state);
  }
  const sends =
    items.some((item) => /[^=]=[^=]|:=|@/.test(item)) ||
    (method !== undefined && !/^(?:GET|HEAD|OPTIONS)$/.test(method)) ||
    call.stdin !== undefined;
  if (sends && remote) exfiltrates(call, "data");
  else if (sends)
    call.run.report("write", "changes-things", "it changes things through a service of this machine");
  return undefined;
};

const serves: Program = (call) => {
  call.run.noteNetwork();
  call.run.report("exfiltration", "serves-files", `${call.name} opens this machine to others`);
  return undefined;
};

export const networkPrograms = [
  ...entries("curl", curl, { network: true }),
  ...entries("wget wget2", wget, { network: true }),
  ...entries("nc ncat netcat pwncat", netcat, { network: true }),
  ...entries("socat", socat, { network: true }),
  ...entries("dig nslookup host drill kdig ping ping6 fping traceroute tracepath mtr whois", lookup, {
    network: true,
  }),
  ...entries(
    "mail mailx sendmail mutt telnet ftp lftp tftp gsutil croc magic-wormhole wormhole transfer rclone s3cmd mosquitto_pub",
    sender,
    { network: true },
  ),
  ...entries("http https xh", http, { network: true }),
  ...entries("ngrok cloudflared localtunnel lt frpc chisel bore tailscale", serves, { network: true }),
  ...entries("nmap masscan arp-scan", sender, { network: true }),
];
