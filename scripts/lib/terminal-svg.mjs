const cell = { width: 8.4, height: 18 };
const padding = 16;
const palette = ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"];
const bright = ["#8b949e", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"];
const foreground = "#e6edf3";

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escapeText = (text) => text.replace(/[&<>]/g, (sign) => escapes[sign]);

/** The style after the parameters of an SGR sequence. */
function styleAfter(style, parameters) {
  const codes = parameters === "" ? [0] : parameters.split(";").map(Number);
  let next = style;
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index];
    if (code === 0) next = {};
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 2) next = { ...next, dim: true };
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 39) next = { ...next, colour: undefined };
    else if (code >= 30 && code <= 37) next = { ...next, colour: palette[code - 30] };
    else if (code >= 90 && code <= 97) next = { ...next, colour: bright[code - 90] };
    else if (code === 38 || code === 48) index += codes[index + 1] === 5 ? 2 : 4;
  }
  return next;
}

/** The runs of equal style in a line: `{ text, style, column }`. */
function runsOf(line, first) {
  const runs = [];
  let style = first;
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are driven by them
  for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
    const sgr = /^\u001b\[([\d;]*)m$/.exec(part);
    if (sgr !== null) style = styleAfter(style, sgr[1]);
    else if (part !== "") {
      runs.push({ text: part, style, column });
      column += [...part].length;
    }
  }
  return { runs, style };
}

function lineSvg({ runs }, row) {
  const y = padding + (row + 0.75) * cell.height;
  const spans = runs
    .filter(({ text }) => text.trim() !== "")
    .map(({ text, style, column }) => {
      const width = [...text].length * cell.width;
      const attributes = [
        `x="${(padding + column * cell.width).toFixed(1)}"`,
        `textLength="${width.toFixed(1)}"`,
        ...(style.colour === undefined ? [] : [`fill="${style.colour}"`]),
        ...(style.bold ? ['font-weight="bold"'] : []),
        ...(style.dim ? ['opacity="0.6"'] : []),
      ];
      return `<tspan ${attributes.join(" ")}>${escapeText(text)}</tspan>`;
    });
  return spans.length === 0 ? "" : `<text y="${y.toFixed(1)}" xml:space="preserve">${spans.join("")}</text>`;
}

function screenSvg(screen) {
  let style = {};
  return screen
    .split("\n")
    .map((line, row) => {
      const read = runsOf(line, style);
      style = read.style;
      return lineSvg(read, row);
    })
    .join("");
}

/**
 * Screens of a terminal (lines with SGR sequences), each for `ms`, as an animated SVG that starts again at its end. Where motion
 * is reduced, it shows the last screen.
 */
export function terminalSvg(frames, { columns, rows, title }) {
  const width = Math.ceil(columns * cell.width + 2 * padding);
  const height = rows * cell.height + 2 * padding;
  const total = frames.reduce((sum, { ms }) => sum + ms, 0);
  let begin = 0;
  const styles = [];
  const hidden = [];
  const moves = [];
  const groups = frames.map(({ screen, ms }, index) => {
    const [from, to] = [(begin / total) * 100, ((begin + ms) / total) * 100];
    begin += ms;
    const isLast = index === frames.length - 1;
    const shown = `${from.toFixed(3)}%{visibility:visible}`;
    const after = isLast ? "" : `${to.toFixed(3)}%{visibility:hidden}`;
    const before = index === 0 ? "" : "0%{visibility:hidden}";
    styles.push(`@keyframes f${index}{${before}${shown}${after}}`);
    if (!isLast) hidden.push(`#f${index}`);
    moves.push(`#f${index}{animation:f${index} ${total}ms step-end infinite}`);
    return `<g id="f${index}">${screenSvg(screen)}</g>`;
  });
  const moving = `${hidden.join(",")}{visibility:hidden}@media(prefers-reduced-motion:no-preference){${moves.join("")}}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeText(title)}"><title>${escapeText(title)}</title><style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${foreground}}${styles.join("")}${moving}</style><rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>${groups.join("")}</svg>\n`;
}
