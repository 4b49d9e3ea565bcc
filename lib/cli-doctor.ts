/** `doctor`: gathers what the checkups look at. Reads only; what cannot be read is a finding too. */
import { readFileSync } from "node:fs";
import { access, constants, readdir, statfs } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";

import { examineFacts, type Facts, type StateDirFacts, type WrapperRootFacts } from "./checkups.js";
import { placeReport, unreported } from "./cli-leases.js";
import type { Where } from "./cli-options.js";
import type { DoctorReport } from "./cli-reports.js";
import { mapOf } from "./concurrency.js";
import { openLeaseView, type LeaseView } from "./lease-view.js";
import * as addon from "./native.js";
import { TREES_AT_ONCE } from "./ownership.js";

/** Where hosts kept pids before there were leases. */
const OLD_FILES = ["process-leases.json"];

export async function doctor(where: Where): Promise<DoctorReport> {
  const opened = await openView(where);
  const view = opened.kind === "view" ? opened.view : undefined;
  const facts: Facts = {
    versions: `node ${process.version}, ${process.platform} ${release()}, ${process.arch}`,
    backend: addon.backend(),
    supervisorImage: addon.supervisorImage(),
    table: await tableFacts(),
    limits: limitFacts(),
    stateDir: opened.kind === "view" ? await stateDirFacts(opened.view) : opened,
    wrapperRoots: await Promise.all(where.wrapperRoots.map(wrapperRootFacts)),
    leftovers: await existing(OLD_FILES.map((file) => join(where.stateDir, file))),
  };
  return {
    schema: "acpx-lifecycle.doctor.v1",
    ...placeReport(where, view),
    checkups: examineFacts(facts),
  };
}

async function openView(
  where: Where,
): Promise<{ readonly kind: "view"; readonly view: LeaseView } | Exclude<StateDirFacts, { kind: "found" }>> {
  try {
    const view = await openLeaseView(where);
    return view === undefined ? { kind: "absent", path: where.stateDir } : { kind: "view", view };
  } catch (error) {
    return { kind: "unusable", because: error instanceof Error ? error.message : String(error) };
  }
}

async function tableFacts(): Promise<Facts["table"]> {
  const table = await addon.snapshot();
  if (!table.ok) return { fault: `${table.call} answered ${table.errno ?? table.reason}` };
  const { complete, pid, uid } = table.value;
  if (!complete) return { fault: "it does not show everybody" };
  const self = process.geteuid?.();
  return { processes: pid.length, own: uid.filter((one) => one === self).length };
}

/** proc_pid_limits(5) */
function limitFacts(): Facts["limits"] {
  let text = "";
  try {
    text = readFileSync("/proc/self/limits", "utf8");
  } catch {
    return {};
  }
  const soft = (name: string) => {
    const value = new RegExp(`^${name} +(\\S+)`, "m").exec(text)?.[1];
    return value === "unlimited" ? Infinity : value === undefined ? undefined : Number(value);
  };
  const [openFiles, processes] = [soft("Max open files"), soft("Max processes")];
  return {
    ...(openFiles === undefined ? {} : { openFiles }),
    ...(processes === undefined ? {} : { processes }),
  };
}

async function stateDirFacts(view: LeaseView): Promise<StateDirFacts> {
  const { path, warnings, leases: dirs } = view.stateDir;
  try {
    const open = await view.store.listOpen();
    const owners = await mapOf(open.leases, TREES_AT_ONCE, (lease) => view.livenessOf(lease));
    const { bavail, bsize } = await statfs(path);
    const dead = owners.filter(({ kind }) => kind === "dead" || kind === "dead-elsewhere");
    return {
      kind: "found",
      path,
      warnings,
      writable: await access(path, constants.W_OK).then(
        () => true,
        () => false,
      ),
      freeBytes: bavail * bsize,
      locks: locksOn(path),
      leases: {
        open: open.leases.length,
        ...unreported(open),
        aside: (await readdir(dirs.damaged).catch(() => [])).length,
        leftBehind: dead.length,
        undecided: owners.filter(({ kind }) => kind === "unknown").length,
      },
    };
  } catch (error) {
    return { kind: "unusable", because: error instanceof Error ? error.message : String(error) };
  }
}

/** Tried on a file that is nobody's lock and is there in every directory that was ever used. */
function locksOn(path: string): "work" | "unsupported" | "untried" {
  const outcome = addon.holdLock(join(path, "gateway-instance-id"), "probe");
  if (!outcome.ok) return outcome.reason === "unsupported" ? "unsupported" : "untried";
  if ("held" in outcome.value) outcome.value.held.release();
  return "work";
}

/** access(2) says EACCES for every program on a file system that is mounted noexec. */
async function wrapperRootFacts(path: string): Promise<WrapperRootFacts> {
  const images = (await readdir(path).catch(() => [])).map((name) => join(path, name));
  const refused: string[] = [];
  for (const image of images) await access(image, constants.X_OK).catch(() => refused.push(image));
  return { path, images: images.length, refused };
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return found.flat();
}
