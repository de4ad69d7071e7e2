import type { Flag } from '../command/flags.ts';
import { baseName } from '../command/shell.ts';
import { codeWithoutResume } from '../evidence/code-without-resume.ts';
import { deletesProgress } from '../evidence/deleted-progress.ts';
import { freshFolder, freshPart } from '../evidence/fresh-folder.ts';
import { usesAccelerators } from '../evidence/launch.ts';
import { missingResume } from '../evidence/missing-resume.ts';
import { isNegated, neverSaves, resumeOff } from '../evidence/progress-flags.ts';
import { lostModel } from '../evidence/python-results.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrialStep } from '../evidence/volume-lifetime.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord, setFlag } from '../rewrite/words.ts';
import { asText, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A job restarts, but its training is configured not to resume.
 *
 * ## Why
 *
 * Checkpoints help only if a restarted run looks for them. With `resume_if_exists=false`, `autoresume=false` or `overwrite_output_dir`, the
 * restarted run starts again at step 0 and may overwrite the checkpoints of the previous run. The same happens if the script deletes them
 * first, if the directory is named after the start time or after a pod that the Job replaces, and with trainers that resume only if a flag says
 * so: Megatron's `--load`, `--resume` of LitGPT, OpenCLIP, Detectron2 and MMDetection, `resume=True` of Ultralytics, `--c` of nnU-Net, `-cpi`
 * of GROMACS, `--resume_from_checkpoint` of ms-swift and of the examples of Diffusers and Accelerate, `--continue_train` of CycleGAN. Code in the manifest is
 * read, too: the trainers of Transformers, TRL and Lightning resume only if the call says so, and others only with an option that is off by default.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--output_dir=/ckpt", "--overwrite_output_dir=true"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   backoffLimit: 4
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: ["torchrun", "train.py", "--output_dir=/ckpt"]
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: a run that is meant to start at step 0 would resume from an existing checkpoint.
 *
 * ## When it is silent
 *
 * If nothing restarts the job or another flag names the checkpoint to resume from, and for benchmarks and trials. A missing flag is information if
 * nothing but a default makes the job restart, and is not reported next to variables and settings files that may have it, and for runs that end
 * before their first checkpoint. For code that may find a checkpoint by itself, that loads anything, or whose settings do not say that it saves on the way.
 *
 * ## Sources
 *
 * - [NVIDIA NeMo: exp_manager](https://docs.nvidia.com/nemo-framework/user-guide/latest/nemotoolkit/core/exp_manager.html)
 * - [Megatron-LM: arguments](https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/arguments.py)
 * - [LitGPT: pretrain](https://github.com/Lightning-AI/litgpt/blob/b9ddd8bdd8e7/litgpt/pretrain.py)
 * - [GROMACS: mdrun](https://manual.gromacs.org/current/onlinehelp/gmx-mdrun.html)
 * - [nnU-Net: training](https://github.com/MIC-DKFZ/nnUNet/blob/master/documentation/how_to_use_nnunet.md)
 * - [Transformers: Trainer.train](https://huggingface.co/docs/transformers/main_classes/trainer#transformers.Trainer.train)
 * - [Lightning: resume training](https://lightning.ai/docs/pytorch/stable/common/checkpointing_basic.html)
 * - [Composer: auto resumption](https://docs.mosaicml.com/projects/composer/en/latest/notes/resumption.html)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'warning',
  container(container, context) {
    const { workload } = context;
    const lines = [...container.command, ...container.args];
    // A simulation also has progress.
    const trains = hasRole(workload, 'training') && !isTrialStep(workload, context.podSet);
    if (container.type !== 'app' || !(trains || lines.some(({ value }) => value.includes('mdrun')))) return;
    if (workload.retries === null || workload.retries.limit === 0) return;
    if (!usesAccelerators(container, context.podSet)) return;
    const deletion = deletesProgress(container);
    const deleted = deletion && spanOfWords(context.document, lines, deletion.words);
    if (deletion !== undefined && deleted !== undefined) {
      context.report({
        message: `The script deletes the checkpoints in ${shorten(deletion.path, 50)} first: every restart of the job starts again at step 0`,
        span: deleted,
      });
      return;
    }
    const never = neverSaves(container);
    const missing = never === undefined || never.atEnd === true ? missingResume(container) : undefined;
    const trainer = missing && spanOfWords(context.document, lines, [missing.word, missing.word]);
    if (missing !== undefined && trainer !== undefined) {
      const isMeant = workload.retries.at !== undefined || context.podSet.restartPolicy?.value === 'OnFailure';
      context.report({
        // By default, a Job restarts six times.
        ...(!isMeant && { severity: 'info' }),
        message: `${shorten(missing.program, 50)} saves but does not resume without ${missing.flag}: every restart of the job starts again at step 0`,
        span: trainer,
      });
      return;
    }
    if (reportFresh(container, context)) return;
    if (never === undefined && reportCode(container, context)) return;
    const off = resumeOff(container);
    const span = off && spanOfWords(context.document, lines, [off.word, off.word]);
    if (off === undefined || span === undefined) return;
    const shown = `${off.written}${off.value === undefined ? '' : `=${off.value}`}`;
    const isMeant = workload.retries.at !== undefined || context.podSet.restartPolicy?.value === 'OnFailure';
    context.report({
      // Files of examples have it, and by default, a Job restarts six times.
      ...(off.word.derived && !isMeant && { severity: 'info' }),
      message: `${shown} disables resuming: every restart of the job starts again at step 0`,
      span,
      // No edit changes a file that another object has.
      fixes: () => [isNegated(off) || off.word.derived ? undefined : turnOn(off, lines, context)],
    });
  },
});

/** Reports training code in the manifest that does not resume. */
function reportCode(container: Container, { workload, podSet, document, report }: PodSetContext): boolean {
  const code = codeWithoutResume(container);
  const span = code && spanOfWords(document, container, [code.word, code.word]);
  // What the pod loses is no checkpoint for the next one.
  if (code === undefined || span === undefined || lostModel(container, podSet) !== undefined) return false;
  const isMeant = workload.retries?.at !== undefined || podSet.restartPolicy?.value === 'OnFailure';
  const { lacks } = code;
  const name = code.word.text.endsWith('.py') ? shorten(baseName(code.word.text), 30) : 'The code';
  const without =
    'flag' in lacks ? `does not resume without ${lacks.flag}` : `calls ${lacks.call} without ${lacks.argument}`;
  report({
    ...(!isMeant && { severity: 'info' }),
    message: `${name} saves checkpoints but ${without}: every restart of the job starts again at step 0`,
    span,
  });
  return true;
}

/** Reports a directory that is another one after each start. */
function reportFresh(container: Container, { workload, podSet, document, report }: PodSetContext): boolean {
  if (neverSaves(container) !== undefined) return false;
  const fresh = freshFolder(container, podSet, workload);
  const part = fresh === undefined ? freshPart(container, podSet, workload) : undefined;
  const span = fresh === undefined ? part && spanOf(part) : spanOfWords(document, container, fresh.words);
  const text = fresh?.text ?? asText(part);
  if (text === undefined || span === undefined) return false;
  const isMeant = workload.retries?.at !== undefined || podSet.restartPolicy?.value === 'OnFailure';
  report({
    ...(!isMeant && { severity: 'info' }),
    message: `${shorten(text, 40)} is a new directory at each start: a restart finds no checkpoint there and starts again at step 0`,
    span,
  });
  return true;
}

function turnOn(off: Flag, lines: Container['command'], { document }: PodSetContext): Fix | undefined {
  const value =
    off.valueWord === undefined
      ? 'False'
      : capitalizedLike(
          off.value ?? '',
          off.name === 'overwrite-output-dir' ? 'false' : off.value === 'disable' ? 'auto' : 'true',
        );
  const edits =
    off.valueWord === undefined
      ? rewriteWord(document, lines, off.word, `${off.word.text}=${value}`)
      : setFlag(document, lines, off, value);
  return fix(`Set ${off.written} to ${value}`, 'unsafe', edits);
}

/** Capitalizes a boolean as Python does if the old value is capitalized. */
function capitalizedLike(old: string, text: string): string {
  return /^[A-Z]/.test(old) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
