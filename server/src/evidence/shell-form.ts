import type { Container } from '../model/workload.ts';
import type { Located } from '../yaml/cursor.ts';
import { isPlaceholderText } from './written.ts';

type Variable = Container['env'][number];

/** A part of a variable's value that only a shell would replace. */
export interface ShellForm {
  /** `itself`: PATH should extend the one of the image, and loses its programs; `other`: another variable of the container; `command`: what a command prints. */
  readonly means: 'itself' | 'other' | 'command';
  /** The name of the variable. */
  readonly name: string;
  readonly value: Located<string>;
  /** As written: `$MODEL_DIR`, `${PATH}`, `$(hostname)`. */
  readonly written: string;
  readonly start: number;
  /** In single quotes among arguments, where no shell that reads the value replaces it. */
  readonly isQuoted?: boolean;
}

/** What only a shell would replace in the values of a container's variables. */
export function shellForms({ env, command, args }: Container): readonly ShellForm[] {
  const byName = new Map(env.map((one) => [one.name, one]));
  const found = env.flatMap((one) => formIn(one, byName) ?? []);
  if (found.length === 0) return [];
  const lines = [...command, ...args].map(({ value }) => value);
  // A script may expand a value a second time, but not what quotes in the value protect.
  if (lines.some((line) => /\benvsubst\b/.test(line))) return [];
  const mayExpand = lines.some((line) => /\beval\b/.test(line));
  const isRead = ({ name }: ShellForm) =>
    lines.some((line) => line.includes(`$${name}`) || line.includes(`\${${name}`));
  const isOneWord = ({ means, value }: ShellForm) => means === 'command' || !/\s/.test(value.value);
  return found.filter((form) => form.isQuoted === true || (!mayExpand && (isOneWord(form) || isRead(form))));
}

function formIn({ name, value }: Variable, byName: ReadonlyMap<string, Variable>): ShellForm | undefined {
  if (value === undefined || value.value.length > 2000 || !/[$`]/.test(value.value)) return undefined;
  // https://github.com/huggingface/huggingface_hub/blob/03333b689b5a/src/huggingface_hub/constants.py
  if (/^HF_/.test(name)) return undefined;
  const text = value.value;
  if (/^(?:\$\([a-z][^()]*\)|`[a-z][^`]*`)$/.test(text) && !ofTekton.test(text))
    return { means: 'command', name, value, written: text, start: 0 };
  // Other text with spaces may be a script.
  const isArguments = /^--?[a-z]/.test(text) && !/(?:^|\s)(?:-c|--command|awk|sed|python3?|bash|sh)\s/.test(text);
  if (/\s/.test(text) && !isArguments) return undefined;
  for (const { 0: written, 1: plain, 2: braced = plain, index } of text.matchAll(variable)) {
    const isQuoted = isArguments && isInSingleQuotes(text, index);
    const form = { name, value, written, start: index, isQuoted };
    if (braced === name) {
      // A whole value is for a tool to fill in.
      // Other lists, such as LD_LIBRARY_PATH, are seldom set by images.
      const paths = text.split(':');
      const isLost = name === 'PATH' && paths.length > 1 && !paths.some((path) => /^\/(?:usr\/)?bin\/?$/.test(path));
      if (isLost && paths.includes(written)) return { means: 'itself', ...form };
      continue;
    }
    const owner = byName.get(braced ?? '');
    if (owner !== undefined && !isPlaceholderText(owner.value?.value ?? '')) return { means: 'other', ...form };
  }
  return undefined;
}

/** What Tekton replaces in all fields of a step. https://tekton.dev/docs/pipelines/variables/ */
const ofTekton = /^\$\((?:params|context|tasks|steps|step|results|workspaces|credentials|tt\.params)[.[]/;

const variable = /(?<![$\\])\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\})/g;

/** Whether a place of a text is in single quotes, as a shell reads them. */
function isInSingleQuotes(text: string, place: number): boolean {
  let open = '';
  for (let index = 0; index < place; index += 1) {
    const char = text[index];
    if (char === '\\' && open !== "'") index += 1;
    else if (open === '' ? char === "'" || char === '"' : char === open) open = open === '' ? (char ?? '') : '';
  }
  return open === "'";
}
