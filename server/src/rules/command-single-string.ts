import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { type Cursor, isIncomplete, isTemplated, spanOf } from '../yaml/cursor.ts';
import { appendItem, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A whole command line stands in one item of `command`.
 *
 * ## Why
 *
 * The items of `command` are the words of the command line, and no shell splits them: with `["python train.py"]` the runtime looks for a
 * file of that very name, blanks included, and the container never starts. Write each word as an item of its own, or call a shell.
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
 * Where the item may be the name of a file (no known program at its start), for templates, values of charts, kinds that are not known, and
 * pods without accelerators.
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
    // Charts and kinds of others may join the items, or hand them to a shell.
    if (!requestsAccelerators(context.podSet) || workload.byShape || isValues(workload)) return;
    const words = first.value.trim().split(/\s+/);
    const program = words[0] ?? '';
    if (words.length < 2 || !isProgram(program)) return;
    context.report({
      message: `"${shorten(first.value.trim(), 50)}" is one item of command: no shell splits it, no file has that name, and the container does not start`,
      span: spanOf(first.at),
      fixes: () => [command.length === 1 ? split(context.document, first.at, words) : undefined],
    });
  },
});

/** What people start containers with: everything else may be a path with blanks. */
function isProgram(word: string): boolean {
  return /^(?:(?:\/usr)?(?:\/local)?\/bin\/)?(?:python[\d.]*|bash|sh|torchrun|accelerate|deepspeed|vllm|sglang|ollama|nvidia-smi|mpirun|node|java|tritonserver|sleep|tail|ray|jupyter|uvicorn|gunicorn|text-generation-launcher|trtllm-serve)$/.test(
    word,
  );
}

/** Quotes, expansions and operators want a shell; such lines are left to people. */
function split(document: YamlDocument, item: Cursor, words: readonly string[]): Fix | undefined {
  const [first = '', ...others] = words;
  if (words.some((word) => /["'`$&|;<>(){}*?~#\\]/.test(word))) return undefined;
  return fix(
    'Write each word as an item of its own',
    'safe',
    replaceScalar(document, item, first),
    ...others.map((word) => appendItem(document, item.parent, word)),
  );
}
