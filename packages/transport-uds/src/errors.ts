import { displayText, HarnessError } from "@harnesskit/wire";

const shortText = (text: string): string => displayText(text, { maxLength: 300 });

/** A socket path does not fit into the address that the operating system has for it. */
export class PathTooLongError extends HarnessError {
  static override readonly brand = "PathTooLongError";

  constructor(
    readonly path: string,
    /** The path's length in bytes, and the room that its temporary neighbour needs where that is more. */
    readonly bytes: number,
    /** How many bytes a path may have on this system: 107 on Linux, 103 elsewhere. */
    readonly maxBytes: number,
  ) {
    super(
      "path_too_long",
      `the socket path needs ${bytes} bytes, and this system allows ${maxBytes}: choose a shorter directory (${shortText(path)})`,
    );
  }
}

/** Other users can reach or change the directory of the socket, so that its mode does not protect it. */
export class InsecureDirectoryError extends HarnessError {
  static override readonly brand = "InsecureDirectoryError";

  constructor(
    readonly directory: string,
    reason: string,
  ) {
    super("insecure_directory", `the socket's directory ${shortText(directory)} ${reason}`);
  }
}

/** Something listens at the address already. */
export class AddressInUseError extends HarnessError {
  static override readonly brand = "AddressInUseError";

  constructor(readonly endpoint: string) {
    super(
      "address_in_use",
      `a server listens on ${shortText(endpoint)} already: stop it or choose another address`,
    );
  }
}

/** The path has a file that is not a socket; it was left alone. */
export class NotASocketError extends HarnessError {
  static override readonly brand = "NotASocketError";

  constructor(readonly path: string) {
    super(
      "not_a_socket",
      `${shortText(path)} is not a socket and was left alone: remove it or choose another path`,
    );
  }
}
