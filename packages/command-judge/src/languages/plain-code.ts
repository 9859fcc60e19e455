const shared =
  "if else for while return and or not in is true false True False None null undefined nil print println printf puts p say echo len length str int float bool range sorted sum min max abs round enumerate zip list dict set tuple type repr format join split strip trim lower upper title startswith endswith items keys values stringify parse loads dumps toString toFixed slice indexOf includes Object Array String Number Boolean Math JSON Date now floor ceil sqrt PI pow typeof of let const var console log json sys math version platform process datetime time toISOString isoformat today entries reverse reversed concat fromCharCode charCodeAt padStart padEnd repeat chr ord hex bin oct arch pid uptime version_info maxsize byteorder implementation pprint argv";
const words = new Set(shared.split(" "));

const token =
  /\s+|(?<text>[A-Za-z]*(?:"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'))|(?<name>[A-Za-z_$][\w$]*)|(?<number>\d[\w.]*)|(?<sign>=>|[-+*%(){}[\],.:;<>=!&|?])/y;

/** A replacement of one plain text by another, without a flag that runs it. */
const replaces = /^\s*s([/|,#])[\w\s.:;!<>=^*+?"'-]*\1[\w\s.:;!<>="'-]*\1[gimsx]*\s*(?:;\s*)?$/;

/**
 * Whether code of another language is so plain that everything in it is known: texts without anything in them that is
 * run, numbers, and words that only calculate and print.
 */
export const isPlainCode = (language: string, code: string): boolean => {
  if ((language === "perl" || language === "ruby") && replaces.test(code)) return true;
  let last = "";
  let at = 0;
  while (at < code.length) {
    token.lastIndex = at;
    const found = token.exec(code);
    if (found === null) return false;
    const [all] = found;
    at += all.length;
    const { text, name, sign } = found.groups ?? {};
    if (name !== undefined && !words.has(name) && (name.length > 1 || last === ".")) return false;
    if (text !== undefined) {
      // A letter before it makes it another kind of text; two side by side are the beginning of a long one.
      if (
        !/^["']/.test(text) ||
        /^["']/.test(last) ||
        last === "[" ||
        /[|`]|[#@$]\{|^[^$@]*[$@].*[[{(>]|^.[<>+]/s.test(text)
      )
        return false;
    }
    // What was found or made is not called: only a word is.
    if (sign === "(" && /^[\])'"]/.test(last)) return false;
    // A name is given no other meaning.
    if (sign === "=" && name === undefined && words.has(last)) return false;
    if (all.trim() !== "") last = all;
  }
  return true;
};
