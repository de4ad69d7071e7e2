import { commandNamed } from '../catalog/program-records.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { once } from '../yaml/once.ts';
import { meaningOf } from './flag-meaning.ts';
import { type Flag, readFlags } from './flags.ts';
import { unsplitWordsOf, wordsOf } from './name-words.ts';
import { allCommands, baseName, readCommandLine, type Word } from './shell.ts';

/**
 * A part of a container's command line or environment that shows where the container saves its progress.
 * - `store`: an object store, or a tool that copies to one.
 * - `path`: a directory in the container; whether it outlives the pod depends on the volume mounted there.
 * - `resume`: the container resumes from an unnamed place.
 * - `unknown`: a name without a known value.
 */
export interface CheckpointSign {
  readonly kind: 'store' | 'path' | 'resume' | 'unknown';
  /** The path or address, or the name without a known value. */
  readonly text: string;
  /** The word, or the first word of the flag. */
  readonly word?: Word;
  readonly flag?: Flag;
  /** It is unknown because it is in a file of settings. What the command line says takes precedence over the file. */
  readonly inSettings?: true;
}

/** What may show where a program keeps its checkpoints. */
export interface CheckpointInput {
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** Undefined values come from elsewhere (Secrets, ConfigMaps, fields). */
  readonly env: readonly { readonly name: string; readonly value: string | undefined }[];
}

/** All signs of checkpoints, in no particular order. Recomputing activations ("gradient checkpointing") is not one. */
export const findCheckpointSigns = once((input: CheckpointInput): readonly CheckpointSign[] => {
  const text = [...input.command, ...input.args].join(' ');
  const commands = allCommands(readCommandLine(input.command, input.args, input.env).statements);
  return [
    ...storesIn(text),
    ...commands.flatMap(({ words }) => {
      const flags = [...readFlags(words), ...yacsOverrides(words)];
      const other = new Set(flags.filter((flag) => setsOtherThings(flag, words)).map(({ valueWord }) => valueWord));
      const named = flags.filter(({ valueWord }) => valueWord === undefined || !other.has(valueWord));
      return [
        ...named.flatMap((flag) =>
          [...signOfFlag(flag), ...signOfYolo(flag, words)].map((sign) => ({ ...sign, word: flag.word, flag })),
        ),
        ...words.filter((word) => !other.has(word)).flatMap((word) => signOfWord(word)),
      ];
    }),
    ...input.env.flatMap(({ name, value }) => signOfEnv(name, value)),
  ];
});

const storeSchemes = oneOf(
  's3 s3a s3n gs gcs r2 minio swift hdfs dbfs',
  'az abfs abfss wasb wasbs adl azureml',
  'oci oss cos obs tos',
);
const storeAddress = new RegExp(`(?<!\\w)(?:${storeSchemes})://[^\\s"',;]*`, 'g');

/** Addresses of object stores, except those that are only read: data sets, weights, code. */
function storesIn(text: string): readonly CheckpointSign[] {
  return [...text.matchAll(storeAddress)].flatMap((match): CheckpointSign[] => {
    const before = text.slice(Math.max(0, match.index - 80), match.index);
    return isReadOnly(before) ? [] : [{ kind: 'store', text: match[0] }];
  });
}

/** Whether the words directly before an address show that it is only read. */
function isReadOnly(before: string): boolean {
  if (/\b(?:cp|sync|rsync|copy|download)\s+(?:-\S+\s+)*["']?$/.test(before)) return true;
  const name = /([\w.-]+)["']?\s*[=:\s]\s*["']?$/.exec(before)?.[1];
  return name !== undefined && wordsOf(name).some((word) => inputWords.has(word));
}

/** The overrides of trainers that read their settings with yacs: `train_net.py --config-file a.yaml OUTPUT_DIR /out`. */
export function yacsOverrides(words: readonly Word[]): readonly Flag[] {
  return words.flatMap((word, at): readonly Flag[] => {
    const [written, next] = [word.text, words[at + 1]];
    if (next === undefined || !/^[A-Z][A-Z_.]+$/.test(written) || next.text.startsWith('-')) return [];
    const name = written.replaceAll('_', '-').toLowerCase();
    return [{ name, written, value: next.text, dynamic: next.dynamic, word, valueWord: next, isVariable: false }];
  });
}

/** What a flag says of where the progress goes; empty if nothing. */
export function signOfFlag(flag: Flag): readonly CheckpointSign[] {
  const { name, written, value, dynamic } = flag;
  const words = wordsOf(written);
  if (words.some((word) => resumeWords.has(word))) {
    return isOff(value) ? [] : [placeSign(value, dynamic, { kind: 'resume', text: name })];
  }
  if (meaningOf(flag, 'store') !== undefined) return isOff(value) ? [] : [{ kind: 'store', text: name }];
  // A trainer's settings may be in a file that is not available here.
  if (isSettingsFile(flag)) return [{ kind: 'unknown', text: name, inSettings: true }];
  if (!isPlaceName(words) && !savesTo(words, value)) return [];
  // A switch is no place: `overwrite_output_dir: true`.
  if (value === undefined ? !dynamic : /^(?:true|false|yes|no)$/i.test(value)) return [];
  if (newestWords.has(value ?? '')) return [{ kind: 'resume', text: name }];
  return [
    placeSign(value, dynamic, isFolder(words, value) ? { kind: 'path', text: value } : { kind: 'unknown', text: name }),
  ];
}

/** The directory of all runs, in which YOLO saves a checkpoint after each epoch: https://docs.ultralytics.com/usage/cfg/ */
function signOfYolo({ name, value, dynamic }: Flag, words: readonly Word[]): readonly CheckpointSign[] {
  if (name !== 'project' || !words.some(({ text }) => baseName(text) === 'yolo')) return [];
  return [placeSign(value, dynamic, { kind: 'unknown', text: name })];
}

/** A flag for the place itself: `--output-dir ckpt` is the same as `--output-dir ./ckpt`. Other flags may name a format or a run, or switch something. */
function isFolder(words: readonly string[], value: string | undefined): value is string {
  if (!words.some((word) => folderWords.has(word)) || isOff(value)) return false;
  return /^[A-Za-z0-9][\w.-]*$/.test(value ?? '') && !/^(?:true|yes|on|\d+)$/i.test(value ?? '');
}

/** `--save-checkpoint /ckpt`, unlike a switch or a number of steps. */
function savesTo(words: readonly string[], value: string | undefined): boolean {
  const [verb, noun, ...rest] = words;
  const isNamed = verb === 'save' && rest.length === 0 && checkpointWords.has(noun ?? '');
  return isNamed && /^[./~]|\//.test(value ?? '');
}

/** Whether a flag names a file of settings. Other flags have "config" in their names: `--dataset_config_name=en`. */
function isSettingsFile(flag: Flag): boolean {
  const { value, dynamic, name } = flag;
  if (value === undefined) return false;
  if (meaningOf(flag, 'settings-file') !== undefined || name === 'c') return true;
  return (
    wordsOf(flag.written).includes('config') &&
    (dynamic || /[/]|\.(?:ya?ml|json|toml|py|cfg|conf|ini|gin)$/.test(value))
  );
}

/** Files of settings that say nothing about progress: those of data sets, and of launchers. */
export function setsOtherThings({ written, name, valueWord }: Flag, words: readonly Word[]): boolean {
  if (valueWord === undefined) return false;
  const parts = wordsOf(written);
  if (parts.some((word) => word === 'dataset' || word === 'data' || word === 'tokenizer' || word === 'deepspeed'))
    return true;
  return name === 'config-file' && words.some(({ text }) => baseName(text) === 'accelerate');
}

/** Where nnU-Net keeps its checkpoints. https://github.com/MIC-DKFZ/nnUNet/blob/master/documentation/setting_up_paths.md */
export const nnUnetResults = 'nnUNet_results';

function signOfEnv(name: string, value: string | undefined): readonly CheckpointSign[] {
  const words = wordsOf(name);
  if ([...words, ...unsplitWordsOf(name)].some((word) => bucketWords.has(word)))
    return [{ kind: 'unknown', text: name }];
  const stores = value === undefined ? [] : storesIn(`${name}=${value}`);
  if (stores.length > 0) return stores;
  if (words.some((word) => resumeWords.has(word))) return isOff(value) ? [] : [{ kind: 'resume', text: name }];
  if (!isPlaceName(words) && name !== nnUnetResults) return [];
  return [placeSign(value, value === undefined || value.includes('$'), { kind: 'unknown', text: name })];
}

/** Tools that access other storage, and settings files passed without a flag. */
function signOfWord(word: Word): readonly CheckpointSign[] {
  const { text } = word;
  if (commandNamed(text)?.stores === true) return [{ kind: 'store', text }];
  if (!/\.(ya?ml|toml)$/.test(text) || text.startsWith('-')) return [];
  return [{ kind: 'unknown', text, word, inSettings: true }];
}

/** A sign of the path or store address in a value; `otherwise` for any other value. */
function placeSign(value: string | undefined, dynamic: boolean, otherwise: CheckpointSign): CheckpointSign {
  if (value === undefined || dynamic || !/^[./~]|\//.test(value)) return otherwise;
  return value.includes('://') ? { kind: 'store', text: value } : { kind: 'path', text: value };
}

/** Whether a name stands for a place to which progress is written: `--output_dir`, `--save`, `checkpoint.folder`, `CKPT_ROOT`. */
function isPlaceName(words: readonly string[]): boolean {
  if (isRunDirectory(words)) return true;
  if (words.some((word) => notOutputWords.has(word))) return false;
  if (!words.some((word) => progressWords.has(word))) return false;
  return words.length === 1 || words.some((word) => placeWords.has(word));
}

/** Whether the words of a name stand for the directory of a whole run, with its checkpoints: `--work-dir`, `exp_manager.exp_dir`. */
export function isRunDirectory(words: readonly string[]): boolean {
  return [words, words.slice(-2), words.slice(-3)].some((part) => runDirectories.has(part.join('-')));
}

/** Those of OpenMMLab, Lightning, NeMo, nanoGPT, StyleGAN and Hydra. */
const runDirectories = wordSet(
  'workdir workdirs work-dir work-dirs exp-dir experiment-dir out-dir outdir',
  'default-root-dir explicit-log-dir hydra-run-dir hydra-sweep-dir',
);

function isOff(value: string | undefined): boolean {
  return value !== undefined && /^(false|no|none|null|off|0|never|disabled?)$/i.test(value);
}

const progressWords = wordSet(
  'save output out checkpoint checkpoints checkpointer ckpt ckpts result results storage exp logdir snapshot dump',
  'work workdir workdirs root job export experiment',
);
const placeWords = wordSet('file dir directory folder path root uri url location prefix base dest destination');
const folderWords: ReadonlySet<string> = new Set(['dir', 'directory', 'folder']);
const checkpointWords: ReadonlySet<string> = new Set(['checkpoint', 'checkpoints', 'ckpt', 'ckpts']);
const notOutputWords = wordSet(
  'load gradient activation activations selective pretrained tokenizer dataset data convert converter input',
  'interval steps freq period python log',
);
const resumeWords: ReadonlySet<string> = new Set(['resume', 'autoresume', 'restore']);
/** What stands for the newest checkpoint of the run itself: `ckpt_path=last`. */
const newestWords = wordSet('last latest auto');
const bucketWords = wordSet('bucket s3 gcs minio aws oss tos cos obs blob hdfs nfs fsx efs lustre');
/** Words in the names of inputs. */
const inputWords = wordSet(
  'data dataset datasets input inputs train eval val model tokenizer weights pretrained load corpus source src',
  'code wheel image index vocab base',
);
