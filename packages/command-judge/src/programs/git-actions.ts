import { isUnknown } from "../marks.ts";
import { noteHost } from "./hosts.ts";
import type { Parsed } from "./parse-arguments.ts";
import type { Call } from "./spec.ts";

/** An address of git; `ext::program` runs a program. */
export const address = (call: Call, text: string): void => {
  const { walk, scope } = call;
  const command = /^ext::(.*)$/s.exec(text)?.[1];
  if (command === undefined) {
    noteHost(call, text);
    return;
  }
  walk.report("execute", "runs-code", `${call.name} runs the program of an address`);
  const words = command.split(/(?<!%) /).map((word) => word.replaceAll("% ", " "));
  walk.run(words, scope, undefined);
};

export const push = (call: Call, parsed: Parsed): void => {
  const { walk } = call;
  const [remote = "", ...refs] = parsed.operands;
  walk.network(true);
  walk.report("network", "network", "git push changes a repository elsewhere");
  if (refs.some((ref) => /^[+:]/.test(ref)))
    walk.report("destructive", "git-destroys", "git push overwrites or deletes what others have");
  if (/:|^\/|^\.\.?\//.test(remote))
    walk.report("exfiltration", "sends-data", `git pushes to the address ${remote}`);
  if (isUnknown(parsed.operands.join("")))
    walk.unknown("unknown-word", "the policy cannot tell what git pushes where");
};

export const checkout = ({ walk, args, name }: Call, parsed: Parsed): void => {
  if (args.includes("--") || parsed.operands.includes("."))
    walk.report("destructive", "git-destroys", `${name} discards changes`);
};

export const fetches = (call: Call, parsed: Parsed): void => {
  call.walk.network(true);
  const [first] = parsed.operands;
  if (first !== undefined && (/::|[:/@]/.test(first) || isUnknown(first))) address(call, first);
};

export const setting = ({ walk, scope, name }: Call, parsed: Parsed): void => {
  const isOld = !/^(?:get|set|list|unset|edit)$/.test(parsed.operands[0] ?? "");
  const words = isOld ? parsed.operands : parsed.operands.slice(1);
  const isReading =
    parsed.has("--get", "--get-all", "--get-regexp", "--list", "-l") ||
    /^(?:get|list)$/.test(parsed.operands[0] ?? "");
  if (
    parsed.has("--list", "-l", "--get-regexp") ||
    parsed.operands[0] === "list" ||
    /header|token|password|credential/i.test(words[0] ?? "")
  )
    walk.secret("reads-settings", "git config shows settings, which may hold secrets");
  if (isReading || (isOld && words.length === 1 && !parsed.has("--unset", "--unset-all", "-e", "--edit")))
    return;
  walk.report("write", "changes-repository", `${name} changes a setting`);
  if (
    /^(?:alias|core|diff|filter|merge|pager|gpg|credential|sequence|init|include|protocol|browser|man|difftool|mergetool|interactive|uploadpack|remote|url|http|submodule|hook)/i.test(
      words[0] ?? "",
    )
  ) {
    walk.report("execute", "sets-command", `git may run what the setting ${words[0]} says`);
    walk.suspect(() => walk.script((words[1] ?? "").replace(/^!/, ""), scope.fresh(), undefined));
  }
};

export const bisect = ({ args, walk, scope, stdin }: Call): void => {
  if (args[0] === "run") walk.run(args.slice(1), scope, stdin);
};

export const submodule = ({ args, walk, scope }: Call): void => {
  const at = args.indexOf("foreach");
  if (at === -1) return;
  const words = args.slice(at + 1).filter((arg) => !/^--(?:recursive|quiet)$/.test(arg));
  walk.script(words.join(" "), scope.fresh(), undefined);
};
