/**
 * Text for a terminal that may be narrow, colourless or without UTF-8, made of text that strangers chose: an argument
 * list can hold anything, so nothing of it reaches a terminal that is not plainly visible.
 */

export interface TextStyle {
  /** Columns; undefined: no terminal, nothing is cut or wrapped. */
  readonly width?: number | undefined;
  readonly colour: boolean;
  /** False: ASCII only. */
  readonly unicode: boolean;
  /** Lines drawn by box characters, not by ASCII; implies `unicode`. */
  readonly boxes: boolean;
}

export type Colour = "red" | "green" | "yellow" | "cyan" | "bold" | "dim";

const SGR: Readonly<Record<Colour, number>> = { red: 31, green: 32, yellow: 33, cyan: 36, bold: 1, dim: 2 };

/** `text` must be visible already: a sequence inside it would end this one. */
export function paint(style: TextStyle, colour: Colour, text: string): string {
  return style.colour ? `\x1b[${SGR[colour]}m${text}\x1b[0m` : text;
}

/** Controls, bidirectional overrides, invisible and unassigned characters, lone surrogates, line separators. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const BEYOND_ASCII = /[^\x20-\x7e]/gu;
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** On one line, with everything that would not show as itself written out. */
export function visible(style: TextStyle, text: string): string {
  const shown = text.replace(INVISIBLE, escaped);
  return style.unicode ? shown : shown.replace(BEYOND_ASCII, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return NAMED[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`);
}

/** An argument list as one would type it into a shell, escapes aside. */
export function commandLine(style: TextStyle, argv: readonly string[]): string {
  const quoted = argv.map((argument) =>
    /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`,
  );
  return visible(style, quoted.join(" "));
}

const COMBINING = /\p{M}/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function columnsOf(character: string): number {
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Columns that a visible text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** To exactly `width` columns, with the middle left out: both ends of a session key tell something. */
export function fit(style: TextStyle, text: string, width: number): string {
  const total = widthOf(text);
  if (total <= width) return text + " ".repeat(width - total);
  const gap = style.unicode ? "…" : "..";
  if (width <= gap.length) return gap.slice(0, Math.max(width, 0));
  const room = width - gap.length;
  const head = prefix(Array.from(text), Math.ceil(room / 2));
  const tail = prefix(Array.from(text).reverse(), room - widthOf(head));
  const cut = head + gap + Array.from(tail).reverse().join("");
  return cut + " ".repeat(width - widthOf(cut));
}

function prefix(characters: readonly string[], width: number): string {
  let taken = "";
  let used = 0;
  for (const character of characters) {
    used += columnsOf(character);
    if (used > width) break;
    taken += character;
  }
  return taken;
}

/** Lines of a paragraph, all but the first with `hang` spaces before them, `first` columns being used up already. */
export function wrap(style: TextStyle, text: string, hang = 0, first = hang): string {
  // Too narrow for a paragraph: the terminal breaks lines as well as we would.
  if (style.width === undefined || style.width - hang < 16) return text;
  const lines: string[] = [""];
  let used = first;
  for (const word of text.split(" ").flatMap((word) => pieces(word, (style.width ?? 0) - hang))) {
    const needed = widthOf(word) + (lines.at(-1) === "" ? 0 : 1);
    if (used + needed > style.width && lines.at(-1) !== "") {
      lines.push("");
      used = hang;
    }
    const line = lines.pop() ?? "";
    lines.push(line === "" ? word : `${line} ${word}`);
    used += line === "" ? widthOf(word) : needed;
  }
  return lines.join(`\n${" ".repeat(hang)}`);
}

/** A word that is longer than a line is broken where the line ends. */
function pieces(word: string, width: number): string[] {
  const all: string[] = [];
  for (let rest = word; ;) {
    const piece = prefix(Array.from(rest), width);
    all.push(piece);
    rest = rest.slice(piece.length);
    if (rest === "") return all;
  }
}

/** At most six columns: `42s`, `13m`, `2h05m`, `3d04h`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${two((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${two((seconds % 86_400) / 3600)}h`;
}

/** `1 process`, `2 processes`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
