import type { Call, Program } from "../call.ts";
import { isExact, isUnknown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

const withoutComments = (text: string): string =>
  text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, " ").replace(/\s+/g, " ");

const isReading = (statement: string): boolean =>
  /^(?:select|show|explain(?! analy[sz]e)|describe|desc|use|pragma \w+(?:\(\w+\))?$|values|table|\\[dlztc?]|\.(?:tables|schema|headers|mode|databases|indexes|dump|help|quit|exit|width|timer|stats))/i.test(
    statement,
  ) &&
  !/\b(?:into (?:out|dump)file|into \w+ from|for update|pg_read_file|pg_ls_dir|lo_export|lo_import|dblink|load_file|pg_sleep|writefile|load_extension|setval|nextval|pg_terminate_backend|delete|update|insert|drop)\b/i.test(
    statement,
  );

/** Judges statements of a database. */
const judgeSql = ({ run, state, name }: Call, source: string): void => {
  if (!isExact(source))
    run.report("unknown", "unknown-script", `the statements for ${name} are not known in full`);
  const text = withoutComments(source);
  for (const [, command = ""] of source.matchAll(/^\s*(?:\\!|\.(?:shell|system)|system|!)\s+(.*)$/gm))
    run.script(command, state.clone(), undefined);
  for (const [, command = ""] of text.matchAll(/\bprogram\s+'((?:[^']|'')*)'/gi))
    run.script(command.replaceAll("''", "'"), state.clone(), undefined);
  for (const [, path = ""] of text.matchAll(
    /(?:^|;)\s*(?:\\(?:o|w|copy .* to)|\.(?:output|once|save|backup|log))\s+'?([^\s;']+)/gi,
  ))
    run.write(path, state);
  for (const [, path = ""] of text.matchAll(/(?:\\i|\\ir|\.read|source)\s+([^\s;]+)/gi)) {
    run.read(path, state);
    run.report("unknown", "unknown-script", `${name} runs a file whose content is not known`);
  }
  for (const part of text.split(";")) {
    const statement = part.trim();
    if (statement === "" || isReading(statement)) continue;
    if (
      /\b(?:drop|truncate)\b|\balter\b[^;]*\bdrop\b|\bdropDatabase\b|\.drop\(|\bflushall\b|\bflushdb\b|\bdeleteMany\(\s*\{\s*\}/i.test(
        statement,
      ) ||
      (/\bdelete from\b/i.test(statement) && !/\bwhere\b/i.test(statement)) ||
      (/\bupdate\b.*\bset\b/i.test(statement) && !/\bwhere\b/i.test(statement)) ||
      /\bwhere\s+(?:1\s*=\s*1|true)\b/i.test(statement)
    )
      run.report("destructive", "destroys-data", `${name} deletes tables, databases or all that is in them`);
    else if (/\b(?:grant|superuser|create (?:role|user)|alter (?:role|user)|set password)\b/i.test(statement))
      run.report("privilege", "changes-accounts", `${name} changes who may do what in the database`);
    else run.report("write", "changes-data", `${name} changes data`);
  }
};

const sql: Program = (call) => {
  const { run, args, name, state, stdin } = call;
  const options = readOptions(
    args,
    "c f h p U d o e D P u init cmd command file host port username dbname output execute database user eval",
  );
  const statements = [
    ...options.values("c", "command", "cmd", "execute", "eval"),
    ...(/^(?:mysql|mariadb)/.test(name) ? options.values("e") : []),
    ...(name === "sqlite3" || name === "duckdb" ? options.operands.slice(1) : []),
  ];
  for (const path of options.values("o", "output")) run.write(path, state);
  if (name === "sqlite3" || name === "duckdb")
    for (const path of options.operands.slice(0, 1)) run.read(path, state);
  const hosts = options.values("h", "host");
  if (hosts.some((host) => !/^(?:localhost|127\.|\/|::1)/.test(host))) run.noteNetwork();
  for (const path of name.startsWith("mysql") ? [] : options.values("f", "file", "init")) {
    const content = run.read(path, state);
    judgeSql(call, content);
  }
  for (const statement of statements) judgeSql(call, statement);
  if (stdin !== undefined && !isUnknown(stdin)) judgeSql(call, stdin);
  else if (stdin !== undefined && statements.length === 0)
    run.report("unknown", "unknown-script", `the statements for ${name} are not known`);
  const asked =
    statements.length + options.values("f", "file").length > 0 ||
    stdin !== undefined ||
    options.has("l", "list", "version", "V");
  if (!asked) run.report("unknown", "interactive", `${name} waits for statements that are not known`);
  return undefined;
};

const redis: Program = (call) => {
  const words = readOptions(call.args, "h p a n u s user pass", true).operands;
  const command = (words[0] ?? "").toLowerCase();
  if (
    /^(?:get|mget|keys|scan|exists|ttl|type|info|ping|llen|lrange|hget|hgetall|smembers|dbsize|strlen|zrange)$/.test(
      command,
    )
  )
    return undefined;
  if (/^(?:flushall|flushdb|shutdown|debug)$/.test(command))
    call.run.report("destructive", "destroys-data", "redis-cli deletes all data");
  else if (/^(?:eval|config|module|script|slaveof|replicaof|)$/.test(command))
    call.run.report("unknown", "unknown-script", "it is not known what redis-cli does");
  else call.run.report("write", "changes-data", "redis-cli changes data");
  return undefined;
};

const mongo: Program = (call) => {
  const options = readOptions(call.args, "u p eval host port username password file f");
  for (const code of options.values("eval")) {
    if (/\bdrop|deleteMany\(\s*\{\s*\}|remove\(\s*\{\s*\}/i.test(code))
      call.run.report("destructive", "destroys-data", "mongosh deletes data");
    else if (
      /^[\w.]+(?:\(["']\w+["']\))?\.(?:find|findOne|count\w*|stats|aggregate)\([^$]*\)[\s.\w()]*$/.test(code)
    )
      continue;
    else call.run.report("unknown", "unknown-code", "it is not known what the code for mongosh does");
  }
  if (!options.has("eval")) call.run.report("unknown", "unknown-script", "it is not known what mongosh does");
  return undefined;
};

/** Whole databases, made, dropped, or written out. */
const wholes: Program = ({ run, args, name, state }) => {
  if (
    /^drop/.test(name) ||
    (name === "mysqladmin" && args.includes("drop")) ||
    args.some((arg) => /^(?:--clean|--drop)$/.test(arg))
  )
    run.report("destructive", "destroys-data", `${name} deletes a database`);
  const options = readOptions(args, "f h p U d o F out file host port");
  for (const path of options.values("f", "file", "o", "out")) run.write(path, state);
  if (!/dump/.test(name)) run.report("write", "changes-data", `${name} changes a database`);
  else run.report("write", "reads-database", `${name} reads a whole database`);
  return undefined;
};

export const databasePrograms = [
  ...entries("psql mysql mariadb sqlite3 duckdb sqlcmd clickhouse-client cqlsh sqlplus", sql),
  ...entries("redis-cli valkey-cli", redis),
  ...entries("mongosh mongo", mongo),
  ...entries(
    "dropdb createdb dropuser createuser pg_dump pg_dumpall pg_restore mysqldump mysqladmin mongodump mongorestore initdb pg_ctl",
    wholes,
  ),
];
