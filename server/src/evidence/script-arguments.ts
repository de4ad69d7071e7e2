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
  return rest.find(({ value, at }) => scriptAndMore.test(value) && !isTemplated(at));
}

/** Programs whose first plain argument is a file. */
const readsScript = /^(?:python[\d.]*|bash|sh|torchrun|accelerate|deepspeed)$/;

/** A script and its arguments in one text. */
const scriptAndMore = /^[\w./-]+\.(?:py|sh)[ \t]+[^\s;&|]+[^;&|\n]*$/;
