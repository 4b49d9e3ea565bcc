/**
 * What the writers of a host's other session rows fill in: the relation fields and nothing else, so that a row says
 * by itself whose it is and nobody has to ask a second time.
 */
import type { AcpSessionOwner } from "./session-owner.js";

export type SessionRelation = Partial<
  Pick<AcpSessionOwner, "spawnedBy" | "parentSessionKey" | "ownerSessionKey">
>;

/** A subagent belongs to the session that asked for it, unless another owner is named. */
export function subagentRelation(input: {
  readonly requesterSessionKey: string;
  readonly parentSessionKey?: string | undefined;
  readonly ownerSessionKey?: string | undefined;
}): SessionRelation {
  const { requesterSessionKey, parentSessionKey, ownerSessionKey = requesterSessionKey } = input;
  return sessionRelation({ spawnedBy: requesterSessionKey, parentSessionKey, ownerSessionKey });
}

/** A background task works for the session that asked for it; it was not spawned as its child. */
export function backgroundTaskRelation(input: { readonly requesterSessionKey: string }): SessionRelation {
  return sessionRelation({ ownerSessionKey: input.requesterSessionKey });
}

/** A plain session: what is known, and no guess at the rest. */
export function sessionRelation(input: {
  readonly [Field in keyof SessionRelation]: SessionRelation[Field] | undefined;
}): SessionRelation {
  const known = Object.entries({
    spawnedBy: input.spawnedBy?.trim(),
    parentSessionKey: input.parentSessionKey?.trim(),
    ownerSessionKey: input.ownerSessionKey?.trim(),
  }).filter(([, key]) => key !== undefined && key !== "");
  return Object.fromEntries(known);
}
