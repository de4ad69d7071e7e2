import { type EditorSettings, editorSchema, type MachineSettings, machineSchema } from '../config/schema.ts';
import { type ConfigOrigin, readSettings, type SettingsLayer } from '../config.ts';
import { own, type Table, table, tableOf } from '../yaml/table.ts';
import { settingOrigins } from './protocol.ts';

/** The editor's settings for a workspace folder. */
export interface Settings extends EditorSettings, SettingsLayer {}

/** The settings of a client without settings. Advice is a hint: a lens would be useless, because it cannot be clicked. */
export const defaultSettings: Settings = { ...editorSchema.parse({}), advice: 'hint', values: {} };

/** Reads the section `gpulint` from a client, which can send any value. Wrong values are ignored and reported. */
export function settingsFrom(value: unknown): { readonly settings: Settings; readonly problems: readonly string[] } {
  if (value === null || typeof value !== 'object') return { settings: defaultSettings, problems: [] };
  const { values, problems } = readSettings(chosen(value));
  const { editor, wrong } = read(value);
  return {
    settings: { ...defaultSettings, ...editor, values, origins: originsOf(value) },
    problems: [...problems.map(({ message }) => message), ...wrong.map((key) => `'${key}' has an invalid value`)],
  };
}

/** The settings of the machine; those that are invalid or empty are not set. */
export function machineSettingsFrom(value: unknown): MachineSettings {
  const cluster = own(value, 'cluster');
  const keys = Object.keys(machineSchema.parse({}).cluster);
  const fields = tableOf(keys.map((key) => [key, own(cluster, key) || null]));
  const { success, data } = machineSchema.safeParse({ cluster: fields });
  return success ? data : machineSchema.parse({});
}

/** The values that the user has set: no empty texts, and no defaults, which only our own client also sends. */
function chosen(value: object): object {
  const origins = own(value, settingOrigins);
  const isSet = (path: string) => origins === undefined || own(origins, path) !== undefined;
  const from = (part: object, above: string): object =>
    tableOf(
      Object.entries(part)
        .filter(([key, inner]) => key !== settingOrigins && inner !== '')
        .flatMap(([key, inner]): [string, unknown][] => {
          const path = `${above}${key}`;
          if (isSet(path)) return [[key, inner]];
          if (above !== '' || inner === null || typeof inner !== 'object' || Array.isArray(inner)) return [];
          const below = from(inner, `${path}.`);
          return Object.keys(below).length === 0 ? [] : [[key, below]];
        }),
    );
  return from(value, '');
}

/** Reads key by key: one wrong value must not affect the others. */
function read(value: object): { readonly editor: Partial<EditorSettings>; readonly wrong: readonly string[] } {
  const fields = new Map(Object.entries(value));
  const results = Object.entries(editorSchema.shape)
    .filter(([key]) => fields.get(key) != null)
    .map(([key, schema]) => ({ key, ...schema.safeParse(fields.get(key)) }));
  return {
    editor: Object.fromEntries(results.flatMap(({ key, success, data }) => (success ? [[key, data]] : []))),
    wrong: results.flatMap(({ key, success }) => (success ? [] : [key])),
  };
}

/** The origins of settings, which only our own client sends. */
function originsOf(value: object): Table<ConfigOrigin> {
  const origins = own(value, settingOrigins);
  if (origins === null || typeof origins !== 'object') return table();
  const known = Object.entries(origins).filter(([, origin]) => origin === 'user' || origin === 'workspace');
  return tableOf(known.map(([key, origin]) => [key, `${origin} settings` as ConfigOrigin] as const));
}
