#!/usr/bin/env node
/**
 * The command line: asks, prints, and says by its exit code how it went. What it finds out and how that reads are
 * other files'.
 */
import { readFileSync } from "node:fs";
import { constants, homedir } from "node:os";

import { doctor } from "./cli-doctor.js";
import { doctorText } from "./cli-doctor-text.js";
import { inspect } from "./cli-inspect.js";
import { inspectText } from "./cli-inspect-text.js";
import {
  EXIT_FAILED,
  EXIT_FINDING,
  EXIT_OK,
  EXIT_USAGE,
  HELP,
  parseCommandLine,
  type Request,
} from "./cli-options.js";
import { reap, type SweepListener } from "./cli-reap.js";
import { endedText, leftText, planText, sweptText } from "./cli-reap-text.js";
import { exitOfRefusal, run } from "./cli-run.js";
import { status } from "./cli-status.js";
import { statusText } from "./cli-status-text.js";
import { backend } from "./native.js";
import { visible, wrap, type TextStyle } from "./terminal-text.js";

type Ending = { readonly code: number } | { readonly signal: NodeJS.Signals };

const style = styleOf(process.stdout);

/** Colour and cutting for a terminal only; no-color.org; UTF-8 as locale(7) has it, unset means ASCII. */
function styleOf(stream: NodeJS.WriteStream): TextStyle {
  const { env } = process;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  const terminal = stream.isTTY;
  const unicode = /utf-?8/i.test(locale) || process.platform === "win32";
  return {
    width: terminal ? stream.columns || 80 : undefined,
    colour: terminal && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    unicode,
    boxes: terminal && unicode,
  };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  const { width, unicode } = styleOf(process.stderr);
  const plain = { width, unicode, colour: false, boxes: false };
  process.stderr.write(`${wrap(plain, `acpx-lifecycle: ${visible(plain, text)}`, 2, 0)}\n`);
}

function printReport(request: Request, report: object, text: string): void {
  print(request.json ? JSON.stringify(report, undefined, 2) : text);
}

async function execute(request: Request): Promise<Ending> {
  switch (request.command) {
    case "status": {
      requireAddon();
      const report = await status(request);
      printReport(request, report, statusText(style, report, request.argv));
      return { code: EXIT_OK };
    }
    case "inspect": {
      requireAddon();
      const report = await inspect(request);
      printReport(request, report, inspectText(style, report, request.argv));
      const verdicts = [report.process?.verdict ?? report.leases.map(({ verdict }) => verdict)].flat();
      const owned = report.kind !== "nothing" && verdicts.every(({ kind }) => kind === "owned");
      return { code: owned ? EXIT_OK : EXIT_FINDING };
    }
    case "reap": {
      requireAddon();
      const report = await reap(request, request.json ? SILENT : NARRATOR);
      printReport(request, report, request.dryRun ? planText(style, report) : sweptText(style, report));
      const open = report.left.length + report.notInspected.length;
      return { code: report.kind === "busy" || open > 0 ? EXIT_FINDING : EXIT_OK };
    }
    case "doctor": {
      const report = await doctor(request);
      printReport(request, report, doctorText(style, report));
      const healthy = report.checkups.every(({ outcome }) => outcome !== "problem");
      return { code: healthy ? EXIT_OK : EXIT_FINDING };
    }
    case "run":
      return await runToItsEnd(request);
  }
}

const SILENT: SweepListener = { planned: () => undefined, progress: () => undefined };
const NARRATOR: SweepListener = {
  planned: (plan) => {
    print(planText(style, plan));
    if (plan.planned.length > 0) print("");
  },
  progress: (event) => {
    if (event.type === "lease-ended") print(endedText(style, event.leaseId, event.state, event.deaths));
    if (event.type === "lease-left") print(leftText(style, event.leaseId, event.because));
  },
};

/** Standard output is the command's own; what we have to say goes to standard error. */
async function runToItsEnd(request: Extract<Request, { command: "run" }>): Promise<Ending> {
  try {
    const report = await run(request);
    if (request.json) process.stderr.write(`${JSON.stringify(report)}\n`);
    else if (report.survivors.length > 0) complain(`still alive: ${report.survivors.join(", ")}`);
    if (report.state === "open" && !request.json)
      complain(`lease ${report.leaseId} is left open: ${report.because}`);
    if (!request.json && report.detached.length > 0)
      complain(`left alone at their own request: ${report.detached.join(", ")}`);
    const { code, signal } = report;
    return signal === null ? { code: code ?? EXIT_FAILED } : { signal };
  } catch (error) {
    complain(messageOf(error));
    return { code: exitOfRefusal(error, request.launch[0]) };
  }
}

class CannotLook extends Error {}

function requireAddon(): void {
  const { supported, reason } = backend();
  if (!supported)
    throw new CannotLook(reason ?? "The native addon does not work here: acpx-lifecycle doctor.");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

async function main(): Promise<Ending> {
  const { env, platform } = process;
  const parsed = parseCommandLine(process.argv.slice(2), { env, platform, home: homedir() });
  switch (parsed.kind) {
    case "help":
      print(HELP);
      return { code: EXIT_OK };
    case "version":
      print(version());
      return { code: EXIT_OK };
    case "usage":
      complain(`${parsed.message} (acpx-lifecycle --help)`);
      return { code: EXIT_USAGE };
    case "request":
      return await execute(parsed.request);
  }
}

/** Shells, and whoever else waits, tell a command that was interrupted by how it died. */
const DEADLY: readonly string[] = ["SIGHUP", "SIGINT", "SIGKILL", "SIGPIPE", "SIGTERM"];

function endAs(ending: Ending): void {
  if ("code" in ending) {
    process.exitCode = ending.code;
    return;
  }
  const { signal } = ending;
  // What would leave a core file of node becomes the number by which a shell shows it.
  process.exitCode = 128 + constants.signals[signal];
  if (DEADLY.includes(signal)) process.kill(process.pid, signal);
}

// `| head` has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

try {
  endAs(await main());
} catch (error) {
  complain(messageOf(error));
  process.exitCode = EXIT_FAILED;
}
