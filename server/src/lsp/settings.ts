import { type EditorSettings, editorSchema } from '../config/schema.ts';
import { type ConfigOrigin, readSettings, type ToldSettings } from '../config.ts';
import { own, type Table, table, tableOf } from '../yaml/table.ts';
import { settingOrigins } from './requests.ts';

/** What the editor is set to for a workspace folder. */
export interface Settings extends EditorSettings, ToldSettings {}

/** The settings of a client that has none. Advice is a hint there: a lens that cannot be clicked helps nobody. */
export const defaultSettings: Settings = { ...editorSchema.parse({}), advice: 'hint', told: {} };

/** Reads the section `gpulint` as a client sends it, which may be anything. What is wrong is passed over and reported. */
export function settingsFrom(value: unknown): { readonly settings: Settings; readonly problems: readonly string[] } {
  if (value === null || typeof value !== 'object') return { settings: defaultSettings, problems: [] };
  const { told, problems } = readSettings(value);
  const { editor, wrong } = read(value);
  return {
    settings: { ...defaultSettings, ...editor, told, origins: originsOf(value) },
    problems: [
      ...problems.map(({ message }) => message),
      ...wrong.map((key) => `'${key}' has a value that is not allowed`),
    ],
  };
}

/** Key by key: one wrong value must not undo the others. */
function read(value: object): { readonly editor: Partial<EditorSettings>; readonly wrong: readonly string[] } {
  const given = new Map(Object.entries(value));
  const results = Object.entries(editorSchema.shape)
    .filter(([key]) => given.get(key) != null)
    .map(([key, schema]) => ({ key, ...schema.safeParse(given.get(key)) }));
  return {
    editor: Object.fromEntries(results.flatMap(({ key, success, data }) => (success ? [[key, data]] : []))),
    wrong: results.flatMap(({ key, success }) => (success ? [] : [key])),
  };
}

/** Our own client says whose settings a key is in; for others they are just settings. */
function originsOf(value: object): Table<ConfigOrigin> {
  const given = own(value, settingOrigins);
  if (given === null || typeof given !== 'object') return table();
  const known = Object.entries(given).filter(([, origin]) => origin === 'user' || origin === 'workspace');
  return tableOf(known.map(([key, origin]) => [key, `${origin} settings` as ConfigOrigin] as const));
}
