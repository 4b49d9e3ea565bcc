/**
 * acpx's session records, translated on their way in and out: on disk the agent's own command, as acpx alone would
 * write it; in memory the wrapped one, which acpx compares and spawns. So a session made before the wrapper resumes
 * behind it, a moved wrapper root changes nothing, and taking the wrapper away again loses nothing.
 */
import type { CommandIdentity } from "./agent-command.js";

/** The part of acpx's session record that names the agent. */
export interface SessionCommandRecord {
  agentCommand: string;
  agentArgv?: string[];
}

/** acpx's AcpSessionStore. */
export interface SessionStore<R> {
  load(sessionId: string): Promise<R | undefined>;
  save(record: R): Promise<void>;
}

/** Both directions answer `undefined` for a command that is none of theirs: it is then left as it is. */
export interface CommandTranslation {
  wrapped(stored: CommandIdentity): CommandIdentity | undefined;
  bare(shown: CommandIdentity): CommandIdentity | undefined;
}

export function wrapSessionStore<R extends SessionCommandRecord>(
  store: SessionStore<R>,
  commands: CommandTranslation,
): SessionStore<R> {
  return {
    async load(sessionId) {
      const record = await store.load(sessionId);
      return record && translate(record, commands.wrapped(record));
    },
    // A copy: acpx goes on using the record that it saves, and spawns the agent from it.
    save: (record) => store.save(translate(record, commands.bare(record))),
  };
}

function translate<R extends SessionCommandRecord>(record: R, command: CommandIdentity | undefined): R {
  if (command === undefined) return record;
  const translated: R = { ...record, agentCommand: command.agentCommand };
  if (command.agentArgv === undefined) delete translated.agentArgv;
  else translated.agentArgv = [...command.agentArgv];
  return translated;
}
