/** Puts colour around a text, or leaves it as it is. */
export type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

const colour = (open: number, close: number): Paint => {
  return (text) => (text === "" ? "" : `\u001b[${open}m${text}\u001b[${close}m`);
};

const plain: Paint = (text) => text;

/** The styles of a stream: colours on a terminal that wants them, nothing elsewhere. */
export const createStyle = (isColoured: boolean): Style => {
  const paint = (open: number, close: number) => (isColoured ? colour(open, close) : plain);
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
};

/** True for a terminal, unless `NO_COLOR` is set to something or the terminal can do nothing. */
export const wantsColour = (stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean =>
  stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
