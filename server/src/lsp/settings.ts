import { type EditorSettings, editorSchema } from '../config/schema.ts';
import { type ConfigInput, readSettings } from '../config.ts';

/** What the editor is set to for a workspace folder. */
export interface Settings extends EditorSettings {
  /** The part that has the shape of `.gpulint.yaml`. */
  readonly told: ConfigInput;
}

/** The settings of a client that has none. Advice is a hint there: a lens that cannot be clicked helps nobody. */
export const defaultSettings: Settings = { ...editorSchema.parse({}), advice: 'hint', told: {} };

/** Reads the section `gpulint` as a client sends it, which may be anything. What is wrong is passed over and told. */
export function settingsFrom(value: unknown): { readonly settings: Settings; readonly problems: readonly string[] } {
  if (value === null || typeof value !== 'object') return { settings: defaultSettings, problems: [] };
  const { told, problems } = readSettings(value);
  const editor = { ...defaultSettings, ...read(value) };
  return { settings: { ...editor, told }, problems: problems.map(({ message }) => message) };
}

/** Key by key: one wrong value must not undo the others. */
function read(value: object): Partial<EditorSettings> {
  const { advice, codeLens, inlayHints } = editorSchema.shape;
  const given = value as Readonly<Record<string, unknown>>;
  const picked = {
    advice: given.advice == null ? undefined : advice.safeParse(given.advice).data,
    codeLens: codeLens.safeParse(given.codeLens ?? {}).data,
    inlayHints: inlayHints.safeParse(given.inlayHints ?? {}).data,
  };
  return Object.fromEntries(Object.entries(picked).filter(([, part]) => part !== undefined));
}
