/**
 * What the presets of session visibility differ in. `seed` is the contract of this package; `openclaw-2026.9` keeps
 * what that release of the gateway does, so that it can be adopted without a change of behaviour.
 */

export type SessionVisibilityPreset = "seed" | "openclaw-2026.9";

export interface SessionVisibilityRules {
  /** A requester with an incognito key sees its own row. */
  readonly ownIncognitoVisible: boolean;
  /** An owned row of another agent is visible in mode `agent`. */
  readonly ownedInAgentMode: boolean;
  /** Which keys of another agent can be owned at all. */
  readonly ownableAcrossAgents: "all" | "acp-and-subagent";
  /** Owner keys are compared canonicalised, or as the strings they are. */
  readonly ownerKeys: "canonical" | "raw";
  /** The declared main session sees all rows of its own agent in mode `tree`. */
  readonly mainSeesItsAgent: boolean;
  /** What a sandbox makes of a configured `self`. */
  readonly sandboxedSelf: "self" | "tree";
  /** When agent-to-agent access counts as enabled. */
  readonly agentToAgentEnabled: "exactly-true" | "unless-false";
}

const presets = {
  seed: {
    ownIncognitoVisible: true,
    ownedInAgentMode: true,
    ownableAcrossAgents: "all",
    ownerKeys: "canonical",
    mainSeesItsAgent: false,
    sandboxedSelf: "self",
    agentToAgentEnabled: "exactly-true",
  },
  "openclaw-2026.9": {
    ownIncognitoVisible: false,
    ownedInAgentMode: false,
    ownableAcrossAgents: "acp-and-subagent",
    ownerKeys: "raw",
    mainSeesItsAgent: true,
    sandboxedSelf: "tree",
    agentToAgentEnabled: "unless-false",
  },
} as const satisfies Record<SessionVisibilityPreset, SessionVisibilityRules>;

/** Throws a TypeError for a name that is no preset. */
export function rulesOf(preset: unknown = "seed"): SessionVisibilityRules {
  return presets[oneOf("rules", preset, ["seed", "openclaw-2026.9"])];
}

/** A configured word, or a TypeError that names the field and the words there are: never a default. */
export function oneOf<Word extends string>(field: string, value: unknown, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === value);
  if (word === undefined)
    throw new TypeError(`${field} is ${String(value)}: give one of ${words.join(", ")}.`);
  return word;
}
