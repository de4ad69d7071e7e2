import { type ProgramRecord, scriptNamed, type Use } from '../catalog/program-records.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from './name-words.ts';
import { baseName } from './shell-lexer.ts';

/** A recognized program and its use. */
export interface RecognizedProgram {
  /** The usual name: `vllm`, `torchrun`. */
  readonly program: string;
  readonly use: Use;
  /** `likely`: launchers and script names, which suggest a use but do not guarantee it. */
  readonly confidence: 'certain' | 'likely';
}

/** The use that a script's name indicates. Only whole words count: `constraint.py` does not train. */
export function byScriptName(path: string): RecognizedProgram | undefined {
  const name = baseName(path).replace(/\.(?:py|sh|bash|r|jl|lua|js|ipynb)$/i, '');
  const known = scriptNamed(name);
  if (known?.use !== undefined) return asProgram(known, name, known.use);
  const words = wordsOf(name);
  const has = (set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));
  if (has(batchWords)) return { program: name, use: 'batch', confidence: 'likely' };
  if (has(servingWords)) return { program: name, use: 'serving', confidence: 'likely' };
  if (has(trainingWords) || /fine_?tun|pre_?train/.test(name.toLowerCase()))
    return { program: name, use: 'training', confidence: 'likely' };
  return undefined;
}

/** A script with a common name, by flags that only its program has; one of them is enough. */
export function byScriptFlags(path: string, words: readonly string[]): RecognizedProgram | undefined {
  const name = baseName(path);
  const found = scriptFlags.find(({ scripts }) => scripts.has(name));
  if (found === undefined || !words.some((word) => found.flags.has(word.split('=')[0] ?? ''))) return undefined;
  return { program: found.program, use: 'serving', confidence: 'certain' };
}

/** A script of any other name, by a flag that only training has. */
export function byTrainingFlags(path: string, words: readonly string[]): RecognizedProgram | undefined {
  return hasTrainingFlag(words) ? { program: baseName(path), use: 'training', confidence: 'likely' } : undefined;
}

/** Whether words of a command line contain a flag that only training has: `--epochs`. */
export function hasTrainingFlag(words: readonly string[]): boolean {
  return words.some((word) => {
    const name = word.startsWith('--') ? (word.slice(2).split('=')[0] ?? '') : '';
    return trainingFlags.has(name.replaceAll('_', '-'));
  });
}

const trainingFlags = wordSet(
  'epochs num-epochs n-epochs max-epochs max-epoch num-train-epochs max-train-epochs max-train-steps do-train',
  'per-device-train-batch-size train-batch-size gradient-accumulation-steps train-iters',
);

/**
 * https://github.com/comfyanonymous/ComfyUI/blob/master/comfy/cli_args.py, 2026-11-28
 * https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/Command-Line-Arguments-and-Settings, 2026-11-28
 */
const scriptFlags = [
  {
    program: 'comfyui',
    scripts: wordSet('main.py'),
    flags: wordSet(
      '--disable-auto-launch --disable-metadata --extra-model-paths-config --front-end-version',
      '--enable-cors-header --use-pytorch-cross-attention --use-sage-attention --preview-method',
      '--highvram --normalvram --lowvram --novram --cuda-malloc --disable-cuda-malloc --disable-smart-memory',
    ),
  },
  {
    program: 'stable-diffusion-webui',
    scripts: wordSet('launch.py webui.py webui.sh'),
    flags: wordSet(
      '--xformers --medvram --lowvram --no-half --no-half-vae --opt-sdp-attention --ckpt-dir --api-auth',
      '--enable-insecure-extension-access --skip-version-check --skip-python-version-check',
    ),
  },
];

/** A record as a program. */
export function asProgram({ program, likely }: ProgramRecord, name: string, use: Use): RecognizedProgram {
  return { program: program ?? name, use, confidence: likely === true ? 'likely' : 'certain' };
}

// Words in script names that indicate a use.

const trainingWords = wordSet(
  'train training trainer finetune finetuning pretrain pretraining sft dpo grpo rlhf lora qlora',
);
const servingWords: ReadonlySet<string> = new Set(['serve', 'serving', 'server', 'api']);
const batchWords = wordSet(
  'benchmark benchmarks bench infer inference eval evaluate evaluation predict generate download downloader',
  'convert converter export preprocess tokenize prepare quantize merge upload test client',
);
