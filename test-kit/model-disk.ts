import { createHash } from "node:crypto";

/** What is done to a disk, in parts that happen as a whole, a write excepted. */
export type DiskOp =
  | {
      readonly op: "create";
      readonly directory: number;
      readonly name: string;
      readonly kind: "file" | "directory";
    }
  | { readonly op: "write"; readonly file: number; readonly at: number; readonly bytes: Uint8Array }
  | { readonly op: "truncate"; readonly file: number; readonly size: number }
  | { readonly op: "link"; readonly directory: number; readonly name: string; readonly node: number }
  | { readonly op: "unlink"; readonly directory: number; readonly name: string }
  | {
      readonly op: "rename";
      readonly directory: number;
      readonly name: string;
      readonly toDirectory: number;
      readonly toName: string;
    }
  /** A file: its content is flushed. A directory: its names are. */
  | { readonly op: "sync"; readonly node: number };

type ContentChange = Extract<DiskOp, { op: "write" | "truncate" }>;

/** Names that change together: a renamed file is never at two places, and never at none. */
type NameChange = readonly {
  readonly directory: number;
  readonly name: string;
  readonly node: number | undefined;
}[];

interface FileNode {
  readonly kind: "file";
  content: Buffer;
  flushed: Buffer;
  /** What was done since the last flush. */
  pending: ContentChange[];
}

interface DirectoryNode {
  readonly kind: "directory";
  readonly names: Map<string, number>;
  readonly flushed: Map<string, number>;
}

/** Paths below the root with the content of the file, or undefined for a directory. */
export type DiskImage = ReadonlyMap<string, Buffer | undefined>;

/** What outlives a crash. */
export type Survival =
  /** The process died: all that was written. */
  | "written"
  /** The machine died: nothing but what was flushed. */
  | "flushed"
  /** The machine died, and some of what was not flushed had reached the disk. A number below 1 for each draw. */
  | (() => number);

const withChange = (content: Buffer, change: ContentChange): Buffer => {
  const end = change.op === "write" ? change.at + change.bytes.length : change.size;
  const size = change.op === "write" ? Math.max(content.length, end) : change.size;
  const next = Buffer.alloc(size);
  content.copy(next, 0, 0, Math.min(content.length, size));
  if (change.op === "write") next.set(change.bytes, change.at);
  return next;
};

/** A disk with a cache in front of it: what was written is seen at once and is there after a power loss once flushed. */
export class ModelDisk {
  static readonly rootNode = 0;
  readonly #nodes: (FileNode | DirectoryNode)[] = [];
  #pendingNames: NameChange[] = [];

  /** A disk on which everything of the image is flushed. Nodes are numbered in the image's order. */
  constructor(image: DiskImage = new Map()) {
    this.#add("directory");
    for (const [path, content] of image) {
      const parts = path.split("/");
      const name = parts.pop() ?? "";
      const parent = this.#directory(this.find(parts.join("/")) ?? ModelDisk.rootNode);
      const id = this.#add(content ? "file" : "directory");
      const node = this.#nodes[id];
      if (content && node?.kind === "file") {
        node.content = content;
        node.flushed = content;
      }
      parent.names.set(name, id);
      parent.flushed.set(name, id);
    }
  }

  /** The node at a path below the root, or undefined. */
  find(path: string): number | undefined {
    let id: number | undefined = ModelDisk.rootNode;
    for (const part of path.split("/").filter(Boolean)) {
      const node: FileNode | DirectoryNode | undefined = id === undefined ? undefined : this.#nodes[id];
      id = node?.kind === "directory" ? node.names.get(part) : undefined;
    }
    return id;
  }

  /** The number that the next node gets. */
  get nextNode(): number {
    return this.#nodes.length;
  }

  /** The node under a name of a directory. */
  child(id: number, name: string): number {
    const node = this.#directory(id).names.get(name);
    if (node === undefined) throw new Error(`directory ${id} has no ${name}`);
    return node;
  }

  isDirectory(id: number): boolean {
    return this.#nodes[id]?.kind === "directory";
  }

  names(id: number): string[] {
    return [...this.#directory(id).names.keys()];
  }

  content(id: number): Buffer {
    return this.#file(id).content;
  }

  /** Gives the node that was made, for `create`. */
  apply(op: DiskOp): number | undefined {
    switch (op.op) {
      case "create": {
        const node = this.#add(op.kind);
        this.#rename([{ ...op, node }]);
        return node;
      }
      case "write":
      case "truncate": {
        const file = this.#file(op.file);
        file.content = withChange(file.content, op);
        file.pending.push(op);
        return undefined;
      }
      case "link":
        this.#rename([op]);
        return undefined;
      case "unlink":
        this.#rename([{ ...op, node: undefined }]);
        return undefined;
      case "rename": {
        const node = this.#directory(op.directory).names.get(op.name);
        this.#rename([
          { ...op, node: undefined },
          { directory: op.toDirectory, name: op.toName, node },
        ]);
        return undefined;
      }
      case "sync": {
        const node = this.#nodes[op.node];
        if (node?.kind === "file") {
          node.flushed = node.content;
          node.pending = [];
        } else {
          const touches = (change: NameChange) => change.some(({ directory }) => directory === op.node);
          for (const change of this.#pendingNames.filter(touches)) this.#flushNames(change);
          this.#pendingNames = this.#pendingNames.filter((change) => !touches(change));
        }
        return undefined;
      }
    }
  }

  /** What a later process finds. */
  survivors(survival: Survival): DiskImage {
    const draw = typeof survival === "function" ? survival : undefined;
    const names = new Map(
      this.#nodes.flatMap((node, id) =>
        node.kind === "directory"
          ? [[id, new Map(survival === "written" ? node.names : node.flushed)] as const]
          : [],
      ),
    );
    if (draw) {
      for (const change of this.#pendingNames) {
        if (draw() < 0.5) continue;
        for (const { directory, name, node } of change) {
          if (node === undefined) names.get(directory)?.delete(name);
          else names.get(directory)?.set(name, node);
        }
      }
    }
    const image = new Map<string, Buffer | undefined>();
    const walk = (id: number, path: string) => {
      for (const [name, child] of [...(names.get(id) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const at = path === "" ? name : `${path}/${name}`;
        const node = this.#nodes[child];
        if (node?.kind === "directory") {
          image.set(at, undefined);
          walk(child, at);
        } else if (node) {
          image.set(at, survival === "written" ? node.content : draw ? partOf(node, draw) : node.flushed);
        }
      }
    };
    walk(ModelDisk.rootNode, "");
    return image;
  }

  #rename(change: NameChange): void {
    for (const { directory, name, node } of change) {
      const { names } = this.#directory(directory);
      if (node === undefined) names.delete(name);
      else names.set(name, node);
    }
    this.#pendingNames.push(change);
  }

  #flushNames(change: NameChange): void {
    for (const { directory, name, node } of change) {
      const { flushed } = this.#directory(directory);
      if (node === undefined) flushed.delete(name);
      else flushed.set(name, node);
    }
  }

  #add(kind: "file" | "directory"): number {
    const empty = Buffer.alloc(0);
    this.#nodes.push(
      kind === "file"
        ? { kind, content: empty, flushed: empty, pending: [] }
        : { kind, names: new Map(), flushed: new Map() },
    );
    return this.#nodes.length - 1;
  }

  #file(id: number): FileNode {
    const node = this.#nodes[id];
    if (node?.kind !== "file") throw new Error(`node ${id} is no file`);
    return node;
  }

  #directory(id: number): DirectoryNode {
    const node = this.#nodes[id];
    if (node?.kind !== "directory") throw new Error(`node ${id} is no directory`);
    return node;
  }
}

/** Of each write that was not flushed: nothing, all, its beginning, or its room with nothing in it. */
const partOf = ({ flushed, pending }: FileNode, draw: () => number): Buffer => {
  let content = flushed;
  for (const change of pending) {
    const fate = draw();
    if (fate < 0.3) continue;
    if (change.op === "truncate" || fate < 0.7) content = withChange(content, change);
    else if (fate < 0.85) {
      const bytes = change.bytes.subarray(0, Math.floor(draw() * change.bytes.length));
      content = withChange(content, { ...change, bytes });
    } else content = withChange(content, { ...change, bytes: new Uint8Array(change.bytes.length) });
  }
  return content;
};

/** The same for two images that differ in nothing but names that were drawn at random. */
export const imageKey = (image: DiskImage): string => {
  const hash = createHash("sha1");
  const plain = (text: string) => text.replaceAll(/\b(tmp|lock)_[0-9a-f]{32}/g, "$1");
  for (const [path, content] of image) {
    hash.update(`${plain(path)}\0`);
    if (content) hash.update(content.length < 1000 ? plain(content.toString("latin1")) : content);
    hash.update("\0");
  }
  return hash.digest("hex");
};
