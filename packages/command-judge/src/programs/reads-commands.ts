import { hasMark } from "../marks.ts";
import type { Call } from "./spec.ts";

/** Programs that read commands where they are given no file, statement or command of their own. */
const withoutOperands =
  /^(?:lua|luajit|R|julia|scala|groovy|ghci|erl|iex|irb|pry|ipython|ocaml|sbcl|tclsh|pwsh|powershell|deno|bunjs|osascript|gdb|lldb|ftp|tmux|screen|bc|sqlplus|redis-cli|valkey-cli)$/;

/** Clients that read statements, also beside the address of a server or the name of a database. */
const databases = /^(?:psql|mysql|mariadb|sqlite3|duckdb|mongosh|mongo|clickhouse-client|cqlsh|sqlcmd)$/;
const givesStatements = /^(?:-[A-Za-z]*[cefq]|--(?:command|execute|file|eval|query))(?:$|=)/;

/** Programs that pass on what they read to another machine. */
const remote = /^(?:telnet|sftp|nc|ncat|netcat|socat)$/;

/** Whether what is on the input of a program is not in the command. */
export const isOpenInput = (stdin: string | undefined): boolean => stdin === undefined || hasMark(stdin);

/** Notes a program that reads commands from its input, by its name and arguments; interpreters and `ssh` judge that themselves. */
export const noteCommandReader = ({ name, args, stdin, walk }: Call): void => {
  if (!isOpenInput(stdin)) return;
  const operands = args.filter((each) => !each.startsWith("-"));
  const isReader =
    remote.test(name) ||
    (withoutOperands.test(name) && operands.length === 0) ||
    (databases.test(name) &&
      !args.some((each) => givesStatements.test(each)) &&
      (!/^(?:sqlite3|duckdb)$/.test(name) || operands.length < 2));
  if (isReader) walk.readsCommands(name);
};
