import type { Flag } from '../command/flags.ts';
import { resumeOff } from '../evidence/progress-flags.ts';
import { hasRole } from '../evidence/role-confidence.ts';
import { isTrial } from '../evidence/volume-lifetime.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { rewriteWord, setFlag } from '../rewrite/words.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * The job is restarted, and its training is told not to resume.
 *
 * ## Why
 *
 * Checkpoints help a restart only if it looks for them. With `resume_if_exists=false`, `autoresume=false` or `overwrite_output_dir` the
 * restarted run begins at step 0, and may write over what the one before it saved.
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
 * Unsafe: a run that is meant to begin anew would go on from what is there.
 *
 * ## When it is silent
 *
 * Where nothing restarts the job, where another flag names the checkpoint to resume from, and for benchmarks and trials.
 *
 * ## Sources
 *
 * - [NVIDIA NeMo: exp_manager](https://docs.nvidia.com/nemo-framework/user-guide/latest/nemotoolkit/core/exp_manager.html)
 * - [Composer: auto resumption](https://docs.mosaicml.com/projects/composer/en/latest/notes/resumption.html)
 */
export default defineRule({
  topic: 'checkpoint',
  severity: 'warning',
  container(container, context) {
    const { workload } = context;
    if (!hasRole(workload, 'training') || container.type !== 'app' || isTrial(workload)) return;
    if (workload.retries === null || workload.retries.limit === 0) return;
    if (!requestsAccelerators(container)) return;
    const lines = [...container.command, ...container.args];
    const off = resumeOff(container);
    const span = off && spanOfWords(context.document, lines, [off.word, off.word]);
    if (off === undefined || span === undefined) return;
    const shown = `${off.name.replaceAll('-', '_')}${off.value === undefined ? '' : `=${off.value}`}`;
    context.report({
      message: `${shown}, but the job is restarted: a restart begins at step 0`,
      span,
      fixes: () => [turnOn(off, lines, context)],
    });
  },
});

function turnOn(off: Flag, lines: Container['command'], { document }: PodSetContext): Fix | undefined {
  const overwrites = off.name === 'overwrite-output-dir';
  const edits =
    off.valueWord === undefined
      ? rewriteWord(document, lines, off.word, `${off.word.text}=False`)
      : setFlag(document, lines, off, alike(off.value ?? '', overwrites ? 'false' : 'true'));
  const title = overwrites ? 'Keep what is in the output directory' : `Set ${off.name.replaceAll('-', '_')} to true`;
  return fix(title, 'unsafe', edits);
}

/** Python's way of writing it where the flag has that. */
function alike(old: string, text: string): string {
  return /^[A-Z]/.test(old) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
