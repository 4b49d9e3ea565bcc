export const codexCommand: readonly string[];

export interface SilentModel {
  readonly url: string;
  asked(): Promise<unknown>;
  stop(): void;
}

export function startSilentModel(): Promise<SilentModel>;
export function codexHome(home: string, model: Pick<SilentModel, "url">): Record<string, string>;
