import { kindOf } from '../model/kinds/index.ts';
import type { Container } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { getIn, isIncomplete, isTemplated, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A training job has no container with the name that its operator requires.
 *
 * ## Why
 *
 * The training operator finds the container to configure by its name: `pytorch` in a PyTorchJob, `tensorflow` in a TFJob, `jax` in a JAXJob,
 * `paddle` in a PaddleJob and `xgboost` in an XGBoostJob. It rejects a job without this container.
 *
 * ```yaml invalid
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: trainer
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: kubeflow.org/v1
 * kind: PyTorchJob
 * metadata:
 *   name: pretrain
 * spec:
 *   pytorchReplicaSpecs:
 *     Worker:
 *       replicas: 2
 *       template:
 *         spec:
 *           containers:
 *             - name: pytorch
 *               image: registry.example/trainer:1.4
 *               resources:
 *                 limits:
 *                   nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: scripts, policies and other tools may refer to the container by its old name.
 *
 * ## Sources
 *
 * - [Training operator: validation of a PyTorchJob](https://github.com/kubeflow/trainer/blob/v1.9.4/pkg/webhooks/pytorch/pytorchjob_webhook.go)
 * - [kubeflow/trainer#1563](https://github.com/kubeflow/trainer/issues/1563)
 */
export default defineRule({
  topic: 'training',
  severity: 'error',
  podSet(podSet, context) {
    const { kind, apiVersion, partial } = context.workload;
    const required = apiVersion === 'kubeflow.org/v1' ? kindOf({ kind, apiVersion }).container : undefined;
    if (required === undefined || partial || isIncomplete(getIn(podSet.pod, 'containers'))) return;
    const apps = podSet.containers.filter(({ type }) => type === 'app');
    const [first] = apps;
    if (first === undefined || apps.some(({ name, at }) => name === required || isTemplated(getIn(at, 'name')))) return;
    const name = getIn(first.at, 'name');
    context.report({
      message: `${shorten(podSet.name)} has no container named ${required}: the operator rejects the ${kind}`,
      span: name === undefined ? keySpanOf(first.at) : spanOf(name),
      // The name of an init container is also taken.
      fixes: () =>
        apps.length === 1 && podSet.containers.every((one) => one.name !== required)
          ? [rename(first, required, context)]
          : [],
    });
  },
});

function rename(container: Container, required: string, { document }: PodSetContext): Fix | undefined {
  const edits = replaceScalar(document, getIn(container.at, 'name'), required);
  return fix(`Rename the container to ${required}`, 'unsafe', edits);
}
