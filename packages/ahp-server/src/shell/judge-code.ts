import type { Call } from "./call.ts";
import { isExact, unknownMark } from "./marks.ts";
import { isPlainCode } from "./plain-code.ts";
import { isSecretPath } from "./secret-paths.ts";

// Code of other languages is not parsed. What is known of it: texts that are handed to a shell, names of functions that
// delete, write, send or load, and whether it holds anything besides functions that are known to be harmless.

const literal = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;

const unescaped = (raw: string): string =>
  raw
    .replace(/\\x([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\n/g, "\n")
    .replace(/\\([^nxu])/g, "$1");

const textsIn = (code: string): string[] => {
  const found: string[] = [];
  for (const [, a, b, c] of code.matchAll(literal)) found.push(unescaped(a ?? b ?? c ?? ""));
  return found;
};

const shellCalls =
  /\b(?:system|popen[234]?|Popen|exec|execSync|execFile|execFileSync|spawn|spawnSync|call|check_call|check_output|run|getoutput|getstatusoutput|shell_exec|passthru|proc_open|execv[pe]*|execl[pe]*|os\.execute|do shell script|qx|create_subprocess_(?:shell|exec))\b\s*[({[ ]\s*(\[?[^)\]]*)/g;

interface Shape {
  readonly pattern: RegExp;
  readonly verdict: "write" | "unknown" | "destructive" | "privilege" | "exfiltration";
  readonly code: string;
  readonly text: string;
}

const shapes: readonly Shape[] = [
  {
    pattern:
      /\brmtree\b|\brm(?:dir)?(?:Sync)?\s*\([^)]*recursive|\bremovedirs\b|\bremove_tree\b|\brm_rf?\b|\bFileUtils\.rm|\brimraf\b|\bdeltree\b|\bemptyDir|\bDeno\.remove/,
    verdict: "destructive",
    code: "recursive-delete",
    text: "deletes folders with all that they hold",
  },
  {
    pattern: /\bkillpg\b|\bkill\s*\(\s*-1/,
    verdict: "destructive",
    code: "kills-all",
    text: "ends every process",
  },
  {
    pattern:
      /\bunlink(?:Sync)?\b|\bos\.remove\b|\brm(?:dir)?Sync\b|\bFile\.delete\b|\bftruncate\b|\btruncate(?:Sync)?\b/,
    verdict: "destructive",
    code: "code-deletes",
    text: "deletes files",
  },
  {
    pattern: /\bset(?:res|re|e)?[ug]id\s*\(/,
    verdict: "privilege",
    code: "setuid",
    text: "changes whose rights it has",
  },
  {
    pattern:
      /\b(?:write(?:File|_text|_bytes|lines|Sync|FileSync)?|append(?:File|FileSync)|file_put_contents|fwrite|rename(?:Sync)?|mkdir(?:s|Sync)?|makedirs|chmod(?:Sync)?|chown(?:Sync)?|copy(?:file|tree|FileSync)?|symlink(?:Sync)?|createWriteStream|truncate|extractall|putenv)\s*\(/,
    verdict: "write",
    code: "code-writes",
    text: "writes files",
  },
  {
    pattern:
      /\bsocket\b|\burllib|\brequests\.|\bhttp\.client|\bhttpx?\.(?:get|post|request|put)|\bhttps?\.(?:get|request)|\bfetch\s*\(|\bXMLHttpRequest|\bnet\.(?:connect|Socket|createConnection)|\bsmtplib|\bftplib|\bIO::Socket|\bLWP::|\bNet::HTTP|\bTCPSocket|\bopen-uri|\bfsockopen|\bcurl_(?:init|exec)|\bdns\.(?:resolve|lookup)|\bgethostbyname|\/dev\/tcp/,
    verdict: "exfiltration",
    code: "code-network",
    text: "opens connections to other machines",
  },
];

/** Functions and words that change nothing. */
const harmless =
  /^(?:print|println|printf|puts|p|pp|echo|say|len|str|int|float|bool|repr|range|sorted|sum|min|max|abs|round|enumerate|zip|map|filter|list|dict|set|tuple|type|isinstance|format|join|split|strip|replace|lower|upper|startswith|endswith|items|keys|values|get|log|error|info|stringify|parse|loads|dumps|load|dump|toString|toFixed|toISOString|slice|splice|indexOf|includes|push|pop|forEach|reduce|find|test|match|exec_|entries|fromEntries|assign|Object|Array|String|Number|Boolean|Date|Math|JSON|RegExp|Map|Set|resolve|version|cwd|platform|getsize|exists|isfile|isdir|listdir|readdirSync|readFileSync|existsSync|statSync|readFile|readdir|basename|dirname|extname|abspath|walk|glob|read|read_text|readlines|readline|open|if|for|while|switch|catch|function|return|and|or|not|in|elif|except|lambda|def|chr|ord|hex|bin|oct|pow|sqrt|floor|ceil|now|time|strftime|isoformat|today|hexdigest|md5|sha256|sha1|encode|decode|digest|createHash|update|uname|machine|getpid|getsizeof|next|iter|any|all|with|match_|search|findall|sub|compile_|title|count|index|insert|append|extend|sort|reverse|copy_|typeof|new|await|require|import|of|Path|joinpath|group|trim|concat|charCodeAt|fromCharCode|parseInt|parseFloat|isNaN|then|hasOwnProperty|flat|flatMap|some|every|padStart|padEnd|repeat|at|b64encode|btoa|lc|uc|length|scalar|while_|until|unless|each|chomp|sprintf|substr|defined|exit)$/;

const modules =
  /^(?:json|sys|os|os\.path|re|math|datetime|time|pathlib|collections|itertools|functools|platform|hashlib|random|string|textwrap|statistics|decimal|fractions|typing|pprint|csv|glob|base64|yaml|tomllib|toml|configparser|importlib\.metadata|(?:node:)?(?:fs|path|os|util|crypto|url|assert|perf_hooks))$/;

/** Ways to run or reach what cannot be seen. */
const hidden =
  /\b(?:eval|exec|compile|Function|__import__|importlib|import_module|getattr|setattr|globals|locals|vars|__builtins__|__class__|__subclasses__|vm|runInThisContext|runInNewContext|instance_eval|send|public_send|const_get|ctypes|cffi|pty|marshal|pickle|unserialize|assert_options|create_function|call_user_func|process\.binding|dlopen|constructor|Reflect|child_process|subprocess|spawn|fork|b64decode|atob|fromhex|unhexlify|codecs|zlib|base64_decode|unpack)\b|\brequire\s*\((?!\s*['"])|\bimport\s*\(|\[\s*['"]\w+['"]\s*\+|\bopen\s*\(?\s*[A-Z]+\s*,\s*['"]\|/;

/** Runs texts and lists that the code hands to a shell. */
const runTexts = (call: Call, code: string): void => {
  const { run, state, name } = call;
  for (const [, inner = ""] of code.matchAll(shellCalls)) {
    const texts = textsIn(inner);
    const [first] = texts;
    if (first === undefined || !isExact(first)) {
      run.report("unknown", "unknown-script", `${name} may run a command that is not known`);
    } else if (inner.trimStart().startsWith("[") || (texts.length > 1 && /^[\w./-]+$/.test(first))) {
      run.exec(texts, state.clone(), undefined);
    } else run.script(first, state.clone(), undefined);
  }
  if (name !== "perl" && name !== "ruby" && name !== "php") return;
  for (const [, text = ""] of code.matchAll(/`([^`]*)`/g))
    run.script(unescaped(text), state.clone(), undefined);
  for (const [, brace, paren] of code.matchAll(/(?:qx|%x)(?:\{([^}]*)\}|[(/]([^)/]*)[)/])/g))
    run.script(brace ?? paren ?? "", state.clone(), undefined);
};

const noteFiles = ({ run, state }: Call, code: string): void => {
  for (const [, quote, path = "", rest = ""] of code.matchAll(
    /\b(?:open|readFileSync|readFile|read_text|Path|File\.read|file_get_contents|createReadStream|listdir|readdirSync|walk)\s*\(\s*(['"`])((?:(?!\1)[^\\\n])*)\1\s*(?:,\s*(?:mode\s*=\s*)?['"]([^'"]*)['"])?/g,
  )) {
    if (quote === "`" && path.includes("${")) continue;
    if (/[wax+]/.test(rest) && !/^(?:utf|ascii|latin)/i.test(rest)) {
      run.report("write", "code-writes", "the code writes a file");
      run.write(path, state);
    } else run.read(path, state);
  }
  if (/\bopen\s*\([^'"`)]*,\s*['"](?:[wax]|r\+|>)/.test(code))
    run.report("unknown", "unknown-path", "the code writes a file that is not known");
  for (const text of textsIn(code)) if (isSecretPath(text) && /[./]/.test(text)) run.read(text, state);
  if (/\bENV\b|\benviron\b|process\.env|getenv/.test(code)) {
    run.noteSecret();
    run.report("read", "reads-environment", "the code reads the environment, which may hold secrets");
  }
};

const readsUnknown = (code: string): boolean =>
  /\b(?:open|readFileSync|readFile|listdir|readdirSync|walk|Path)\s*\(\s*(?!['"`)]|__|Path)/.test(code);

/** Judges code of another language by what can be seen in it. */
export const judgeCode = (call: Call, code: string): void => {
  const { run, name } = call;
  runTexts(call, code);
  noteFiles(call, code);
  const bare = code.replace(literal, '""');
  const aliases = [...code.matchAll(/\b(?:from|import|require)\s*\(?\s*['"]?([\w.:/@-]+)/g)].map(
    ([, module = ""]) => module,
  );
  for (const { pattern, verdict, code: word, text } of shapes) {
    if (pattern.test(bare) || (verdict === "exfiltration" && pattern.test(code))) {
      if (verdict === "exfiltration") run.noteNetwork();
      run.report(verdict, word, `the code for ${name} ${text}`);
    }
  }
  const strangers = [...bare.matchAll(/([A-Za-z_]\w*)\s*\(/g)]
    .map(([, word = ""]) => word)
    .filter((word) => !harmless.test(word));
  const unseen =
    hidden.exec(bare.replace(/\brequire\s*\(\s*""\s*\)/g, ""))?.[0] ??
    strangers[0] ??
    aliases.find(
      (module) => !modules.test(module) && !/^\.{0,2}\/.*\.json$/.test(module) && module !== "import",
    );
  const implicit =
    /[|>]|`|\bdo\b|\bsystem\b|-i\b|\$\^I|\bdelete\b/.test(bare) && (name === "perl" || name === "ruby");
  if (unseen !== undefined || implicit || code.includes(unknownMark) || !isPlainCode(name, code))
    run.report(
      "unknown",
      "unknown-code",
      `it is not known what the code for ${name} does${unseen === undefined ? "" : `: ${unseen.slice(0, 40)}`}`,
    );
  if (readsUnknown(bare.replace(/""/g, "''")))
    run.report("unknown", "unknown-path", `the code for ${name} reads a file that is not known`);
  if ((name === "perl" || name === "ruby") && call.args.some((arg) => /^-[a-z]*i/.test(arg))) {
    run.report("write", "changes-files", `${name} changes files in their place`);
    for (const path of call.args.filter((arg) => !arg.startsWith("-") && arg !== code))
      run.write(path, call.state);
  }
};
