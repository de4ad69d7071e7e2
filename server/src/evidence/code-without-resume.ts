import { either } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { withoutComments } from '../command/python-saves.ts';
import type { Word } from '../command/shell.ts';
import type { Container } from '../model/workload.ts';
import { type PythonFile, pythonFiles, withModules } from './python-files.ts';

/** Training code that saves checkpoints during its run, and begins at step 0 whatever it finds. */
export interface CodeWithoutResume {
  /** The word of the command that names the code. */
  readonly word: Word;
  /** What would make it resume: a flag of the command, or an argument of the call that trains. */
  readonly lacks: { readonly flag: string } | { readonly call: string; readonly argument: string };
}

/** The first training code of a container that does not resume, if its text is in the manifest and nothing in it looks for a checkpoint. */
export function codeWithoutResume(container: Container): CodeWithoutResume | undefined {
  for (const code of pythonFiles(container)) {
    const text = withoutComments(withModules(code, container));
    if (text.length > maxCode || findsCheckpoint.test(text)) continue;
    const lacks = lackingFlag(text, code) ?? lackingArgument(text);
    if (lacks !== undefined) return { word: code.file ?? code.command, lacks };
  }
  return undefined;
}

/** An option to resume that is off by default, if the command does not have it. */
function lackingFlag(text: string, { words }: PythonFile): CodeWithoutResume['lacks'] | undefined {
  const options = [...text.matchAll(option)];
  const [only, ...others] = options;
  if (only === undefined || others.length > 0 || !savesOnTheWay.test(text)) return undefined;
  const [, name = '', settings = ''] = only;
  if (!isOffByDefault(settings)) return undefined;
  // `$ARGS` may have it, other than the value of a flag.
  const isOpen = words.some(
    (word, at) => word.dynamic && ![word, words[at - 1]].some((one) => one?.text.startsWith('-')),
  );
  if (isOpen) return undefined;
  if (readFlags(words).some((flag) => isSame(flag.name, name) || /resume|ckpt|checkpoint/i.test(flag.name)))
    return undefined;
  return { flag: `--${name}` };
}

/** The call that trains, if it says nothing of a checkpoint and neither does any other code. */
function lackingArgument(text: string): CodeWithoutResume['lacks'] | undefined {
  if (mayLoad.test(text)) return undefined;
  const [, huggingFace] = /\b(\w*[tT]rainer\.train)\s*\(\s*\)/.exec(text) ?? [];
  if (huggingFace !== undefined && savesByTrainer(text))
    return { call: `${huggingFace}()`, argument: 'resume_from_checkpoint' };
  const [, lightning] = /\b(\w*[tT]rainer\.fit)\s*\(/.exec(text) ?? [];
  const saves = /\bModelCheckpoint\s*\(/.test(text) && /\b(?:pytorch_)?lightning\b/.test(text);
  return lightning !== undefined && saves ? { call: `${lightning}()`, argument: 'ckpt_path' } : undefined;
}

/**
 * Whether Transformers' Trainer or one of TRL saves before its end, by written settings.
 * https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments
 */
function savesByTrainer(text: string): boolean {
  if (!/\b(?:\w*TrainingArguments|(?:SFT|DPO|GRPO|ORPO|KTO|Reward)Config)\s*\(/.test(text)) return false;
  const strategy = /\bsave_strategy\s*=\s*["'](\w+)["']/.exec(text)?.[1];
  if (strategy === 'epoch') return !/\bnum_train_epochs\s*=\s*1(?:\.0)?\b/.test(text);
  const every = numberOf(text, 'save_steps');
  const steps = numberOf(text, 'max_steps');
  return (
    (strategy === undefined || strategy === 'steps') && every !== undefined && (steps === undefined || every < steps)
  );
}

function numberOf(text: string, name: string): number | undefined {
  const written = new RegExp(`\\b${name}\\s*=\\s*(\\d{1,9})\\b(?!\\.)`).exec(text)?.[1];
  return written === undefined ? undefined : Number(written);
}

/** Whether the default of an option is nothing. */
function isOffByDefault(settings: string): boolean {
  const value = /\bdefault\s*=\s*([^,)]+)/.exec(settings)?.[1]?.trim();
  return !/\brequired\s*=\s*True\b/.test(settings) && (value === undefined || /^(?:None|False|""|'')$/.test(value));
}

function isSame(one: string, other: string): boolean {
  return one.replaceAll('_', '-') === other.replaceAll('_', '-');
}

/** `parser.add_argument("--resume", default=None)`. */
const option =
  /\badd_argument\(\s*["']--(resume(?:[_-](?:from|from[_-]checkpoint|path|checkpoint|ckpt))?)["']([^)]*)\)/g;

/** Code that saves its progress, and not only the model at its end. */
const savesOnTheWay = either(
  /\bsave_(?:steps|every|interval|freq)\s*=\s*[1-9]/,
  /\bsave_strategy\s*=\s*["'](?:steps|epoch)["']/,
  /\bModelCheckpoint\s*\(|\boptimizer\w*["']?\s*:\s*\w+\.state_dict\(\)/,
);

/** What may look for a checkpoint by itself, or get its path from a variable or settings. */
const findsCheckpoint = either(
  /get_last_checkpoint|auto_?resume|latest|\bglob\b|listdir|iterdir|scandir|\.exists\s*\(|\.is(?:dir|file|_dir|_file)\s*\(/i,
  /["']resume|["']last["']|\benviron[^\n]*(?:resume|ckpt|checkpoint)|load_checkpoint|load_state/i,
  // It tries a path whatever its options say.
  /\btorch\.load\(\s*f?["']|\btry:\s[\s\S]{0,300}?\btorch\.load\(|\b(?:FileNotFound|OS|IO)Error\b/,
  /save_strategy\s*=\s*["']no["']|enable_checkpointing\s*=\s*False/,
);

/** Any word of resuming or loading. */
const mayLoad =
  /resume|ckpt_path|restore|load_state_dict|torch\.load|from_checkpoint|\*\*\w*(?:args|kwargs)\b[^\n]*train\(/i;

const maxCode = 60_000;
