import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, getIn, items, spanOf } from '../yaml/cursor.ts';
import { removeItem } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A TrainJob sets an environment variable that its controller reserves.
 *
 * ## Why
 *
 * The trainer's torch plugin passes the number of nodes and processes, and the rank and address of each, to torchrun in PET_NNODES,
 * PET_NPROC_PER_NODE, PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT. It rejects a TrainJob for a torch runtime that sets one of them.
 * Set `numNodes` and `numProcPerNode` instead.
 *
 * ```yaml invalid
 * apiVersion: trainer.kubeflow.org/v1alpha1
 * kind: TrainJob
 * metadata:
 *   name: train
 * spec:
 *   runtimeRef:
 *     name: torch-distributed
 *   trainer:
 *     numNodes: 2
 *     env:
 *       - name: PET_NPROC_PER_NODE
 *         value: "8"
 *       - name: LOG_LEVEL
 *         value: info
 * ```
 *
 * ```yaml fixed
 * apiVersion: trainer.kubeflow.org/v1alpha1
 * kind: TrainJob
 * metadata:
 *   name: train
 * spec:
 *   runtimeRef:
 *     name: torch-distributed
 *   trainer:
 *     numNodes: 2
 *     env:
 *       - name: LOG_LEVEL
 *         value: info
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the rejected job can then run, with the controller's own values.
 *
 * ## When it is silent
 *
 * For runtimes without "torch" in their name: only the torch plugin reserves these variables.
 *
 * ## Sources
 *
 * - [Kubeflow Trainer: torch plugin](https://github.com/kubeflow/trainer/blob/master/pkg/runtime/framework/plugins/torch/torch.go)
 */
export default defineRule({
  topic: 'training',
  severity: 'error',
  manifest({ root, kind, apiVersion }, context) {
    if (kind !== 'TrainJob' || groupOf(apiVersion) !== 'trainer.kubeflow.org') return;
    if (!/torch/i.test(asText(getIn(root, 'spec', 'runtimeRef', 'name')) ?? '')) return;
    for (const item of items(getIn(root, 'spec', 'trainer', 'env'))) {
      const name = getIn(item, 'name');
      const text = asText(name);
      if (name === undefined || text === undefined || !reserved.has(text)) continue;
      context.report({
        message: `${text} is reserved for the trainer's torch plugin, which rejects the TrainJob`,
        span: spanOf(name),
        fixes: () => [fix(`Remove ${text}`, 'unsafe', removeItem(context.document, item))],
      });
    }
  },
});

const reserved: ReadonlySet<string> = new Set([
  'PET_NNODES',
  'PET_NPROC_PER_NODE',
  'PET_NODE_RANK',
  'PET_MASTER_ADDR',
  'PET_MASTER_PORT',
]);
