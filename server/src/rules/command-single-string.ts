import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { type Cursor, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { appendItem, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A whole command line is one item of `command`.
 *
 * ## Why
 *
 * Each item of `command` is one word of the command line, and no shell splits it. With `["python train.py"]` the runtime looks for a file
 * of exactly that name, including the space, and the container never starts. Write each word as its own item, or call a shell.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command:
 *         - python train.py --epochs 3
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       command:
 *         - python
 *         - train.py
 *         - "--epochs"
 *         - "3"
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## When it is silent
 *
 * If the item may be a file name (it does not start with a known program), and for templates, chart values, unknown kinds, and pods without
 * accelerators.
 *
 * ## Sources
 *
 * - [Kubernetes: define a command and arguments](https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  container(container, context) {
    const { command } = container;
    const { workload } = context;
    const [first] = command;
    const list = first?.at.parent;
    if (first === undefined || list?.node.kind !== 'seq' || isTemplated(first.at) || isIncomplete(list)) return;
    // Charts and unknown kinds may join the items or pass them to a shell.
    if (!requestsAccelerators(context.podSet) || workload.byShape || isValues(workload)) return;
    const words = first.value.trim().split(/\s+/);
    const program = words[0] ?? '';
    if (words.length < 2 || !isProgram(program)) return;
    context.report({
      message: `"${shorten(first.value.trim(), 50)}" is one item of command: no file has that name, and the container never starts`,
      span: spanOf(first.at),
      fixes: () => [command.length === 1 ? split(context.document, first.at, words) : undefined],
    });
  },
});

/** Common entry programs. Anything else may be a path with spaces. */
function isProgram(word: string): boolean {
  return /^(?:(?:\/usr)?(?:\/local)?\/bin\/)?(?:python[\d.]*|bash|sh|torchrun|accelerate|deepspeed|vllm|sglang|ollama|nvidia-smi|mpirun|node|java|tritonserver|sleep|tail|ray|jupyter|uvicorn|gunicorn|text-generation-launcher|trtllm-serve)$/.test(
    word,
  );
}

/** Undefined for lines with quotes, expansions or operators, which need a shell. */
function split(document: YamlDocument, item: Cursor, words: readonly string[]): Fix | undefined {
  const [first = '', ...others] = words;
  if (words.some((word) => /["'`$&|;<>(){}*?~#\\]/.test(word))) return undefined;
  return fix(
    'Split into one item per word',
    'safe',
    replaceScalar(document, item, first),
    ...others.map((word) => appendItem(document, item.parent, word)),
  );
}
