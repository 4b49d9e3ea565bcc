/** `doctor` for people: a line per subject, with the remedy below it where one is needed. */
import type { Checkup, DoctorReport } from "./cli-reports.js";
import { count, paint, visible, wrap, type Colour, type TextStyle } from "./terminal-text.js";

const MARKS: Readonly<Record<Checkup["outcome"], Colour>> = { ok: "green", note: "cyan", problem: "red" };
const [OUTCOME, ABOUT] = [9, 12];

export function doctorText(style: TextStyle, { checkups }: DoctorReport): string {
  const lines = checkups.flatMap((checkup) => checkupLines(style, checkup));
  const problems = checkups.filter(({ outcome }) => outcome === "problem").length;
  const sum = problems === 0 ? "No problems." : `${count(problems, "problem")}: see above for what helps.`;
  return [...lines, "", paint(style, problems === 0 ? "green" : "red", sum)].join("\n");
}

function checkupLines(style: TextStyle, { about, outcome, found, remedy }: Checkup): string[] {
  const hang = OUTCOME + ABOUT;
  const mark = paint(style, MARKS[outcome], outcome.padEnd(OUTCOME));
  const lines = [`${mark}${about.padEnd(ABOUT)}${wrap(style, visible(style, found), hang)}`];
  if (remedy !== undefined)
    lines.push(" ".repeat(hang) + paint(style, "dim", wrap(style, visible(style, remedy), hang)));
  return lines;
}
