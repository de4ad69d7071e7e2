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
}

/** What only a shell would replace in the values of a container's variables. */
export function shellForms({ env, command, args }: Container): readonly ShellForm[] {
  const byName = new Map(env.map((one) => [one.name, one]));
  const found = env.flatMap((one) => formIn(one, byName) ?? []);
  // A script may expand a value a second time.
  const mayExpand = found.length > 0 && [...command, ...args].some(({ value }) => /\beval\b|\benvsubst\b/.test(value));
  return mayExpand ? [] : found;
}

function formIn({ name, value }: Variable, byName: ReadonlyMap<string, Variable>): ShellForm | undefined {
  if (value === undefined || value.value.length > 2000 || !/[$`]/.test(value.value)) return undefined;
  // https://github.com/huggingface/huggingface_hub/blob/03333b689b5a/src/huggingface_hub/constants.py
  if (/^HF_/.test(name)) return undefined;
  const text = value.value;
  if (/^(?:\$\([a-z][^()]*\)|`[a-z][^`]*`)$/.test(text))
    return { means: 'command', name, value, written: text, start: 0 };
  // Text with spaces may be a script.
  if (/\s/.test(text)) return undefined;
  for (const { 0: written, 1: plain, 2: braced = plain, index } of text.matchAll(variable)) {
    const form = { name, value, written, start: index };
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

const variable = /(?<![$\\])\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\})/g;
