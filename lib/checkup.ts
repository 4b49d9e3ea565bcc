/** One thing that was looked at, how it is, and what helps. */
import type { Checkup } from "./cli-reports.js";

export type Made = [about: string, outcome: Checkup["outcome"], found: string, remedy?: string];

export function checkup(...[about, outcome, found, remedy]: Made): Checkup {
  return { about, outcome, found, ...(remedy === undefined ? {} : { remedy }) };
}
