import { eachLaunch, usesAccelerators } from '../evidence/launch.ts';
import { trainerConflict } from '../evidence/trainer-conflicts.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A trainer or its launcher exits at startup, because two of its settings are mutually exclusive.
 *
 * ## Why
 *
 * Trainers check their settings when they start, often only after the download of model and data: `fp16` next to `bf16`, a best model at the
 * end that was never evaluated, FSDP next to DeepSpeed, `--multi_gpu` with one process. The pod starts, holds its GPUs, and fails; each retry fails
 * in the same way. With `--standalone`, torchrun waits for the other nodes where they cannot reach it, until it times out.
 *
 * ```yaml invalid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nproc-per-node=1, finetune.py]
 *           args:
 *             - --per_device_train_batch_size=8
 *             - --output_dir=/runs/a
 *             - --load_best_model_at_end=True
 *             - --save_strategy=steps
 *             - --eval_strategy=epoch
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 *           volumeMounts:
 *             - name: runs
 *               mountPath: /runs
 *       volumes:
 *         - name: runs
 *           persistentVolumeClaim:
 *             claimName: runs
 * ```
 *
 * ```yaml valid
 * apiVersion: batch/v1
 * kind: Job
 * metadata:
 *   name: finetune
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           command: [torchrun, --nproc-per-node=1, finetune.py]
 *           args:
 *             - --per_device_train_batch_size=8
 *             - --output_dir=/runs/a
 *             - --load_best_model_at_end=True
 *             - --save_strategy=epoch
 *             - --eval_strategy=epoch
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 *           volumeMounts:
 *             - name: runs
 *               mountPath: /runs
 *       volumes:
 *         - name: runs
 *           persistentVolumeClaim:
 *             claimName: runs
 * ```
 *
 * ## When it is silent
 *
 * If one of the settings is a variable, is in a file that is not in a ConfigMap of the project, or belongs to a script without other settings
 * of the trainer. A best model at the end next to strategies that are not written is information in scripts of your own, whose code may set
 * them.
 *
 * ## Sources
 *
 * - [Transformers: TrainingArguments](https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments)
 * - [Accelerate: launch](https://github.com/huggingface/accelerate/blob/main/src/accelerate/commands/launch.py)
 * - [DeepSpeed: runner](https://github.com/deepspeedai/DeepSpeed/blob/master/deepspeed/launcher/runner.py)
 * - [PyTorch: torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
 * - [Axolotl: validation](https://github.com/axolotl-ai-cloud/axolotl/blob/main/src/axolotl/utils/schemas/validation.py)
 * - [LLaMA-Factory: parser](https://github.com/hiyouga/LLaMA-Factory/blob/main/src/llamafactory/hparams/parser.py)
 */
export default defineRule({
  topic: 'training',
  severity: 'error',
  container: eachLaunch((container, { podSet, document, report }: PodSetContext) => {
    if (!usesAccelerators(container, podSet)) return;
    const found = trainerConflict(container);
    const span = found && spanOfWords(document, container, found.words);
    if (found === undefined || span === undefined) return;
    report({
      ...(found.isLikely && { severity: 'info' as const }),
      message: `${found.problem}: ${found.program} ${found.effect ?? 'exits at startup'}`,
      span,
    });
  }),
});
