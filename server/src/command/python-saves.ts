import { either, oneOf, partOf } from '../catalog/word-patterns.ts';
import { isTraining } from './inline-python.ts';

/** A place to which Python code saves the model that it trains. */
export interface PythonSave {
  /** Relative paths are below the folder in which the code runs. */
  readonly path: string;
  /** Where the path, or the name that stands for it, is in the code. */
  readonly start: number;
  readonly end: number;
}

/**
 * All places to which training code saves its model. Empty if there are none, if one of them is unknown, or if the code may also keep its results
 * elsewhere: in a bucket, on a hub, with a tracker.
 */
export function savesIn(code: string): readonly PythonSave[] {
  if (!isTraining(code) || keeps.test(code)) return [];
  const text = withoutComments(code);
  const names = constantsOf(text);
  const saves: PythonSave[] = [];
  const calls = [...text.matchAll(call)];
  if (calls.length > maxCalls) return [];
  for (const match of calls) {
    if (isOptional(text, match.index)) continue;
    const from = match.index + match[0].length;
    const place = match[0].endsWith('=') ? argumentAt(text, from) : placeOf(match[0], argumentsFrom(text, from));
    const path = place && textOf(place.text, names);
    // A file object, a variable or a parameter: it may be anywhere.
    if (place === undefined || path === undefined) return [];
    saves.push({ path, start: place.start, end: place.start + place.text.length });
  }
  return saves;
}

/** What sends results elsewhere, or moves files. */
const keeps = either(
  partOf('push_to_hub upload wandb mlflow comet neptune clearml boto3 fsspec put_object hub_model s3fs gcsfs'),
  partOf('subprocess os\\.system shutil storage\\.Client requests httpx ftplib paramiko minio put_object'),
  partOf('os\\.replace os\\.rename \\.rename\\( copyfile copytree copy2 chdir onnx\\.export'),
  // Nothing is saved.
  /\bsave_strategy\s*=\s*["']no["']|\benable_checkpointing\s*=\s*False\b/,
  /\b(?:s3a?|gs|gcs|az|abfss?|hdfs|oss|cos):\/\//,
);

/** Calls and keywords whose argument is the place of a model. `save` alone also saves pictures and arrays. */
const call = new RegExp(
  [
    `\\btorch\\.save\\s*\\(`,
    `\\.(?:${oneOf('save_pretrained save_model save_weights save_checkpoint')})\\s*\\(`,
    `\\b(?:model|net|network|policy|agent)\\.save\\s*\\(`,
    `\\b(?:${oneOf('output_dir dirpath default_root_dir')})\\s*=(?!=)`,
  ].join('|'),
  'g',
);

export interface Part {
  readonly text: string;
  readonly start: number;
}

/** The argument of a call that is the place: `torch.save(state, place)`, `model.save(place)`. */
function placeOf(name: string, given: readonly Part[] | undefined): Part | undefined {
  return given?.[name.includes('torch.save') ? 1 : 0];
}

const maxArguments = 4000;
const maxCalls = 20;

/** The arguments of a call from behind its bracket; undefined if it does not end. */
export function argumentsFrom(text: string, from: number): readonly Part[] | undefined {
  const parts: Part[] = [];
  let [start, depth, quote] = [from, 0, ''];
  for (let at = from; at < Math.min(text.length, from + maxArguments); at++) {
    const char = text.charAt(at);
    if (quote !== '') {
      if (char === '\\') at++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (depth === 0 && (char === ',' || char === ')')) {
      parts.push(trimmed(text, start, at));
      if (char === ')') return parts;
      start = at + 1;
    } else if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
  }
  return undefined;
}

/** The value of a keyword argument, or of a variable of that name. */
function argumentAt(text: string, from: number): Part | undefined {
  const line = text.slice(from, from + maxArguments).split('\n', 1)[0] ?? '';
  return argumentsFrom(`${text.slice(0, from)}${line})`, from)?.[0];
}

function trimmed(text: string, from: number, to: number): Part {
  const part = text.slice(from, to);
  return { text: part.trim(), start: from + part.length - part.trimStart().length };
}

type Names = ReadonlyMap<string, string>;

/** Names that the code sets once, to a text. */
function constantsOf(text: string): Names {
  const found = new Map<string, string>();
  const again = new Set<string>();
  for (const [, name = '', value = ''] of text.matchAll(/^[ \t]*([A-Za-z_]\w*)[ \t]*=(?!=)[ \t]*(.*)$/gm)) {
    const literal = literalOf(value.trim());
    if (literal === undefined || found.has(name)) again.add(name);
    else found.set(name, literal);
  }
  for (const name of again) found.delete(name);
  return found;
}

export function literalOf(text: string): string | undefined {
  return /^(["'])([^"'\\{}\n]*)\1$/.exec(text)?.[2];
}

/** The text of an expression: a literal, a name for one, a path joined of such, or a formatted text that starts with one. */
function textOf(expression: string, names: Names): string | undefined {
  const literal = literalOf(expression) ?? names.get(expression);
  if (literal !== undefined) return literal;
  const joined = /^os\.path\.join\(([^()]*)\)$/.exec(expression)?.[1];
  const parts = joined?.split(',').map((part) => literalOf(part.trim()) ?? names.get(part.trim()));
  if (parts?.every((part) => part !== undefined)) return parts.join('/');
  // What follows the folder does not lead out of it.
  const [, , text = ''] = /^f(["'])([^"'\\\n]*)\1$/.exec(expression) ?? [];
  const filled = text.replace(/\{(\w+)\}/g, (whole, name: string) => names.get(name) ?? whole);
  const [folder = ''] = filled.split('{', 1);
  return folder === filled ? folder || undefined : folder.slice(0, folder.lastIndexOf('/') + 1) || undefined;
}

/** Comments and texts that document the code as spaces, so that positions stay. */
export function withoutComments(code: string): string {
  return code
    .replace(/(^|\s)#[^\n]*/g, (comment, before: string) => before + ' '.repeat(comment.length - before.length))
    .replace(/[a-z]?("""|''')[\s\S]*?\1/gi, (text, _, at: number, all: string) =>
      // Any other is a value.
      /(?:^|\n)[ \t]*$/.test(all.slice(Math.max(0, at - 100), at)) ? text.replace(/[^\n]/g, ' ') : text,
    );
}

/** Whether an `if` directly around a line asks for a setting that may be off: `if args.save_model:`. */
function isOptional(text: string, at: number): boolean {
  const before = text.slice(0, at).split('\n');
  const own = indentOf(before.pop() ?? '');
  for (const line of before.reverse()) {
    if (line.trim() === '' || indentOf(line) >= own) continue;
    return asks.test(line);
  }
  return false;
}

/** A condition on the settings of the program, or on one for saving. */
const asks = new RegExp(
  `^\\s*(?:el)?if\\s.*\\b(?:${oneOf('args cfg config opts? flags hparams', 'save_?model do_save')})\\b`,
  'i',
);

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
