import { baseName } from '../command/shell.ts';
import { isTemplated, type Located } from '../yaml/cursor.ts';

/** A program, or the script of one, in the home directory, whose `~` no shell replaces. */
export function homePath(words: readonly Located<string>[]): Located<string> | undefined {
  const [first, ...rest] = words;
  if (first?.value.startsWith('~/')) return first;
  const isRead = /^(?:python[\d.]*|bash|sh|torchrun)$/.test(baseName(first?.value ?? ''));
  const script = isRead ? rest.find(({ value }) => !/^-[\w-]*(?:=|$)|^\d+$/.test(value)) : undefined;
  const isCode = rest.some(({ value }) => /^-\w*[cm]$/.test(value));
  return script?.value.startsWith('~/') === true && !isCode ? script : undefined;
}

/** A script and its arguments in one item of a command without a shell: no file has that name. */
export function joinedScript(words: readonly Located<string>[]): Located<string> | undefined {
  const [first, ...rest] = words;
  if (!readsScript.test(baseName(first?.value ?? '')) || rest.some(({ value }) => /^-\w*[cm]$/.test(value)))
    return undefined;
  const index = rest.findIndex(({ value, at }) => scriptAndMore.test(value) && !isTemplated(at));
  // Behind a script, or as the value of a flag, it is for that one to read.
  const others = rest.slice(0, index).filter(({ value }) => !launches.test(value));
  const isValue = /^--[^=]+$/.test(others.at(-1)?.value ?? '');
  const isPlain = ({ value }: Located<string>, at: number) =>
    !/^-|^\d+$/.test(value) && !/^--/.test(others[at - 1]?.value ?? '');
  return isValue || others.some(isPlain) ? undefined : rest[index];
}

/** A command of the launcher, before the script. */
const launches = /^launch$/;

/** Programs whose first plain argument is a file. */
const readsScript = /^(?:python[\d.]*|bash|sh|torchrun|accelerate|deepspeed)$/;

/** A script and its arguments in one text. */
const scriptAndMore = /^[\w./-]+\.(?:py|sh)[ \t]+[^\s;&|]+[^;&|\n]*$/;
