import { accessSync, constants, statSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The commands of a machine with only Node and npm: those, and what every POSIX system has. */
const commands = `
  node npm npx sh bash env id ps kill uname hostname stty tty script cat ls cp mv rm ln mkdir rmdir
  mkfifo mktemp touch chmod chown stat echo printf true false test sleep date seq yes tee head tail
  sort tr wc cut uniq sed grep awk find xargs expr dd dirname basename realpath readlink nohup setsid
  timeout pwd which du df od
`
  .trim()
  .split(/\s+/);

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/**
 * Fills an empty folder with links to the commands of a bare machine, so that it serves as the `PATH` of one: without
 * git, Python, a browser and ripgrep. Commands that this machine lacks are left out. Returns the folder.
 */
export function makeBarePath(dir) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  for (const name of commands) {
    const program =
      name === "node" ? process.execPath : folders.map((folder) => join(folder, name)).find(isProgram);
    if (program !== undefined) symlinkSync(program, join(dir, name));
  }
  return dir;
}
