import type { Flag } from '../command/flags.ts';
import { argumentsFrom, literalOf, type Part, withoutComments } from '../command/python-saves.ts';
import { once } from '../model/once.ts';
import type { Container } from '../model/workload.ts';
import { pythonFiles } from './python-files.ts';

/**
 * The arguments of Transformers' Trainer, or of one of TRL, in the form of flags, if the code that a container runs is in a manifest and makes them
 * once. Empty if more of them come from elsewhere, or if a callback may save by itself.
 */
export const trainerArguments = once((container: Container): readonly Flag[] => {
  const [file, ...others] = pythonFiles(container);
  if (file === undefined || others.length > 0 || readsOthers.test(file.text)) return [];
  const text = withoutComments(file.text);
  const [made, ...again] = text.matchAll(makes);
  // Without a call that trains, it evaluates or predicts.
  if (made === undefined || again.length > 0 || !/\.train\s*\(/.test(text)) return [];
  const given = argumentsFrom(text, made.index + made[0].length) ?? [];
  const flagOf = (written: string, value: string, { text: path, start }: Part): Flag => {
    const known = literalOf(value) ?? (plain.test(value) ? value.replaceAll('_', '') : undefined);
    const word = file.wordOf({ path, start, end: start + path.length });
    const name = written.replaceAll('_', '-');
    return { name, written, value: known, dynamic: known === undefined, word, valueWord: word, isVariable: false };
  };
  const flags: Flag[] = [];
  for (const part of given) {
    const at = part.text.indexOf('=');
    const written = part.text.slice(0, Math.max(at, 0)).trim();
    // The text behind the last comma.
    if (part.text === '') continue;
    if (!/^[a-z]\w*$/.test(written)) return [];
    flags.push(flagOf(written, part.text.slice(at + 1).trim(), part));
  }
  const resumes = /\.train\s*\(\s*(resume_from_checkpoint)\s*=\s*(?!None\b|False\b)/.exec(text);
  if (resumes !== null)
    flags.push(flagOf('resume_from_checkpoint', 'True', { text: resumes[0], start: resumes.index }));
  return flags;
});

const plain = /^(?:-?\d[\d_]{0,12}(?:\.\d{1,9})?|True|False)$/;

/** What saves by itself, or reads the arguments from elsewhere. */
const readsOthers = /\b(?:TrainerCallback|TrlParser|HfArgumentParser)\b|\bcallbacks\s*=/;

// https://huggingface.co/docs/trl/en/sft_trainer: the configurations of TRL extend TrainingArguments.
const makes = /\b(?:\w{0,20}TrainingArguments|(?:SFT|DPO|ORPO|KTO|CPO|GRPO|RLOO|Reward|BCO|GKD)Config)\s*\(/g;
