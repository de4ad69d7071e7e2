import type { FlagMeaning } from '../catalog/flag-records.ts';
import { asText, type Cursor, entries, items, keyOf, rootCursor } from '../yaml/cursor.ts';
import { parseYaml } from '../yaml/parse.ts';
import { meaningOf } from './flag-meaning.ts';
import { type Flag, readFlags } from './flags.ts';
import { pythonCode } from './inline-python.ts';
import { wordsOf } from './name-words.ts';
import type { ProcessInput } from './processes.ts';
import { allCommands, baseName, readCommandLine, type Word } from './shell.ts';
import { presetText } from './training-presets.ts';

/** One setting of a trainer, from its command line, a variable, or a file that it reads. */
export interface TrainerSetting {
  /** In lower case, with `-` for `_`; the keys of nested mappings are joined by dots. */
  readonly name: string;
  readonly written: string;
  /** Undefined if it contains an expansion. */
  readonly value: string | undefined;
  /** The flag, if it is one on the command line. */
  readonly flag: Flag | undefined;
}

/** A file that a container reads. */
export interface SettingsText {
  readonly path: string;
  readonly text: string;
}

/** What a container tells its trainer. */
export interface TrainerSettings {
  /** The later ones take precedence. */
  readonly settings: readonly TrainerSetting[];
  /** Words of the command line that are not values of flags: programs, subcommands, scripts, recipes. */
  readonly words: readonly Word[];
  /** Files of settings that the command line names and whose text is unknown. */
  readonly unread: readonly string[];
}

/**
 * The settings of the trainers that a container starts: variables, then files (YAML, JSON, TOML, Python), then flags.
 * @param files mounted files that the command line names
 */
export function readTrainerSettings(input: ProcessInput, files: readonly SettingsText[]): TrainerSettings {
  const commands = allCommands(readCommandLine(input.command, input.args, input.env).statements);
  const texts = commands.flatMap((command): SettingsText[] => {
    if (command.heredoc === undefined) return [];
    const python = pythonCode(command) !== undefined;
    const target = command.words.find(({ text }) => text.includes('/') || text.includes('.'))?.text ?? '';
    return [{ path: python ? `${target}.py` : target, text: command.heredoc.text }];
  });
  const code = commands.flatMap((command) => pythonCode(command) ?? []).map((text) => ({ path: 'inline.py', text }));
  const flags = commands
    .flatMap(({ words }) => readFlags(words).map((flag) => withList(flag, words)))
    .filter(({ isVariable }) => !isVariable);
  const isModule = ({ word }: Flag) => word.text === '-m';
  const values = new Set(flags.filter((flag) => !isModule(flag)).map(({ valueWord }) => valueWord));
  const words = commands.flatMap((command) => command.words.filter((word) => !values.has(word)));
  const named = [...flags.filter(isSettingsFile).flatMap(({ value }) => value ?? []), ...words.map(({ text }) => text)];
  const presets = named.flatMap((path): SettingsText[] => {
    const text = presetText(path);
    return text === undefined ? [] : [{ path, text }];
  });
  const known = [...presets, ...files, ...texts, ...code];
  const scripts = [...input.command, ...input.args, ...files.map(({ text }) => text)];
  const isWritten = (path: string) =>
    texts.length > 0 &&
    [`> ${path}`, `>${path}`, `tee ${path}`].some((end) => scripts.some((one) => one.includes(end)));
  const inFiles = known.flatMap(settingsIn);
  // A file of settings can name DeepSpeed's.
  const nested = inFiles.flatMap(({ name, value }) => (name === 'deepspeed' && value !== undefined ? [value] : []));
  const isKnown = (path: string) => isWritten(path) || known.some((one) => baseName(one.path) === baseName(path));
  return {
    settings: [
      ...input.env.map(({ name, value }) => settingOf(name.toLowerCase(), value)),
      ...commands.flatMap(({ assignments }) => assignments.map(ofAssignment)),
      ...inFiles,
      ...flags.flatMap(settingsOfFlag),
    ],
    words,
    unread: [...named, ...nested].filter((path) => /\.(?:ya?ml|json|toml)$/.test(path) && !isKnown(path)),
  };
}

/** Names of modules follow their flag as a list: `--lora_target_modules q_proj v_proj`. */
function withList(flag: Flag, words: readonly Word[]): Flag {
  if (flag.valueWord === undefined || flag.valueWord === flag.word || !/modules$/.test(flag.name)) return flag;
  const after = words.slice(words.indexOf(flag.valueWord));
  const end = after.findIndex(({ text }) => text.startsWith('-'));
  const listed = after.slice(0, end < 0 ? undefined : end);
  return { ...flag, value: listed.map(({ text }) => text).join(',') };
}

function isSettingsFile(flag: Flag): boolean {
  return meaningOf(flag, 'settings-file') !== undefined || wordsOf(flag.written).includes('deepspeed');
}

function settingOf(written: string, value: string | undefined, flag?: Flag): TrainerSetting {
  const dynamic = flag?.dynamic === true || value?.includes('$') === true;
  return {
    name: written.replaceAll('_', '-').toLowerCase(),
    written,
    value: dynamic ? undefined : value?.replace(/^(["'])(.*)\1$/, '$2'),
    flag,
  };
}

function ofAssignment({ text }: Word): TrainerSetting {
  const at = text.indexOf('=');
  return settingOf(text.slice(0, at).toLowerCase(), text.slice(at + 1));
}

/** A switch is `true`. A value can be a JSON text with settings of its own. */
function settingsOfFlag(flag: Flag): readonly TrainerSetting[] {
  const inner = flag.value?.startsWith('{') === true && !flag.dynamic ? settingsInYaml(flag.value) : [];
  return [...inner, settingOf(flag.written, flag.value ?? 'true', flag)];
}

const maxText = 200_000;

/** The settings in a file by its kind: YAML, JSON, TOML, Python. */
export function settingsIn({ path, text }: SettingsText): readonly TrainerSetting[] {
  if (text.length > maxText) return [];
  if (path.endsWith('.py')) return settingsInPython(text);
  return path.endsWith('.toml') || /^\[[\w.]+\]\s*$/m.test(text) ? settingsInToml(text) : settingsInYaml(text);
}

function settingsInYaml(text: string): readonly TrainerSetting[] {
  return parseYaml(text).documents.flatMap(({ root }) => (root === null ? [] : flattened(rootCursor(root), [], 0)));
}

/** The scalars of nested mappings and lists, by their paths. */
function flattened(cursor: Cursor, path: readonly string[], depth: number): readonly TrainerSetting[] {
  if (depth > 8) return [];
  if (cursor.node.kind === 'map')
    return entries(cursor).flatMap((entry) => flattened(entry, [...path, keyOf(entry) ?? ''], depth + 1));
  if (cursor.node.kind === 'seq') {
    const values = items(cursor).flatMap((item) => asText(item) ?? []);
    return values.length === 0 ? [] : [settingOf(path.join('.'), values.join(','))];
  }
  const value = asText(cursor);
  return value === undefined ? [] : [settingOf(path.join('.'), value)];
}

function settingsInToml(text: string): readonly TrainerSetting[] {
  let section = '';
  return text.split('\n').flatMap((line): TrainerSetting[] => {
    const head = /^\s*\[([\w.]+)\]/.exec(line)?.[1];
    if (head !== undefined) section = `${head}.`;
    const [, key, value] = /^\s*([\w.]+)\s*=\s*("[^"]*"|[^#]*)/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [settingOf(section + key, value.trim())];
  });
}

/** Keyword arguments and assignments of plain values: `load_in_4bit=True`, `max_seq_length = 2048`. */
function settingsInPython(text: string): readonly TrainerSetting[] {
  return [...text.matchAll(/\b([a-z]\w{0,60})\s{0,4}=\s{0,4}("[^"\n]{0,200}"|'[^'\n]{0,200}'|[\w.+-]{1,40})/g)].flatMap(
    ([, key, value]) =>
      key === undefined || value === undefined ? [] : [settingOf(key === 'r' ? 'lora_r' : key, value)],
  );
}

/** The last setting with a meaning. */
export function lastSetting(
  { settings }: Pick<TrainerSettings, 'settings'>,
  means: FlagMeaning,
): TrainerSetting | undefined {
  return [...settings].reverse().find((setting) => meaningOf(setting, means) !== undefined);
}
