import { isSlip } from '../catalog/spelling.ts';
import { writtenNumber } from '../evidence/written.ts';
import { kindOf } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container, Manifest } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A training job has no container or role with the name that its operator requires.
 *
 * ## Why
 *
 * The training operator finds the container to configure by its name: `pytorch` in a PyTorchJob, `tensorflow` in a TFJob, `jax` in a JAXJob,
 * `paddle` in a PaddleJob and `xgboost` in an XGBoostJob. It rejects a job without this container. The roles of a PyTorchJob are `Master`,
 * with one replica, and `Worker`; an MPIJob needs a `Launcher`, also with one. KServe adds the model of a service to the container
 * `kserve-container` of its ServingRuntime.
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
 * - [KServe: merging runtimes](https://github.com/kserve/kserve/blob/master/pkg/controller/v1beta1/inferenceservice/utils/utils.go)
 * - [kubeflow/trainer#1563](https://github.com/kubeflow/trainer/issues/1563)
 */
export default defineRule({
  topic: 'training',
  severity: 'error',
  manifest(manifest, context) {
    if (context.document.template) return;
    checkRuntime(manifest, context);
    const known = rolesOf[`${manifest.apiVersion}/${manifest.kind}`];
    const specs = known && getIn(manifest.root, 'spec', known.field);
    if (known && specs) checkRoles(specs, known.roles[0], known.roles, manifest.kind, context);
  },
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

/** The container to which KServe adds the model of a service. Runtimes of ModelMesh have others. */
function checkRuntime({ kind, apiVersion, root }: Manifest, { report }: RuleContext): void {
  if (groupOf(apiVersion) !== 'serving.kserve.io' || !kind.endsWith('ServingRuntime')) return;
  const spec = getIn(root, 'spec');
  const containers = getIn(spec, 'containers');
  const modelMesh = ['grpcDataEndpoint', 'grpcEndpoint', 'builtInAdapter'];
  if (asBoolean(getIn(spec, 'multiModel')) === true || modelMesh.some((key) => getIn(spec, key) !== undefined)) return;
  const names = items(containers).map((one) => getIn(one, 'name'));
  const [first] = names;
  if (first === undefined || isIncomplete(containers) || names.some((one) => one === undefined || isTemplated(one)))
    return;
  if (names.some((one) => asText(one) === 'kserve-container')) return;
  report({
    message: `The ${kind} has no container named kserve-container: KServe rejects the services that use it`,
    span: spanOf(first),
  });
}

/**
 * The replica specs of each kind and their roles, first the one that has a single pod. Defaults correct their case.
 * https://github.com/kubeflow/trainer/tree/v1.9.4/pkg/webhooks, https://github.com/kubeflow/mpi-operator/blob/master/pkg/apis/kubeflow/validation/validation.go
 */
const rolesOf = table<{ readonly field: string; readonly roles: readonly [single: string, other: string] }>({
  'kubeflow.org/v1/PyTorchJob': { field: 'pytorchReplicaSpecs', roles: ['Master', 'Worker'] },
  'kubeflow.org/v1/XGBoostJob': { field: 'xgbReplicaSpecs', roles: ['Master', 'Worker'] },
  'kubeflow.org/v2beta1/MPIJob': { field: 'mpiReplicaSpecs', roles: ['Launcher', 'Worker'] },
});

function checkRoles(
  specs: Cursor,
  single: string,
  known: readonly string[],
  kind: string,
  { report, document }: RuleContext,
): void {
  const isRole = (name: string) => known.some((role) => role.toLowerCase() === name.toLowerCase());
  const own = entries(specs).filter((one) => one.node.kind === 'map');
  for (const one of own) {
    const name = keyOf(one);
    if (isRole(name) || kind === 'MPIJob' || !/^\w+$/.test(name)) continue;
    const meant = known.find((role) => isSlip(role, name) || `${role}s`.toLowerCase() === name.toLowerCase());
    report({
      message: `${shorten(name, 30)} is not a role of a ${kind}, only ${known.join(' and ')}: the operator rejects the job`,
      span: keySpanOf(one),
      fixes: () => (meant === undefined ? [] : [fix(`Rename to ${meant}`, 'unsafe', renameKey(document, one, meant))]),
    });
  }
  const first = own.find((one) => keyOf(one).toLowerCase() === single.toLowerCase());
  const replicas = getIn(first, 'replicas');
  const count = writtenNumber(replicas);
  if (replicas !== undefined && count !== undefined && count !== 1) {
    report({
      message: `${single} must have 1 replica, not ${count}: the operator rejects the ${kind}`,
      span: spanOf(replicas),
      fixes: () => [fix(`Set replicas to 1`, 'unsafe', replaceScalar(document, replicas, 1))],
    });
  }
  const [other] = own;
  if (kind !== 'MPIJob' || first !== undefined || other === undefined || isIncomplete(specs)) return;
  // A patch repeats only what it changes.
  const containers = own.flatMap((one) => items(getIn(one, 'template', 'spec', 'containers')));
  if (entries(specs).length > own.length || containers.some((one) => getIn(one, 'image') === undefined)) return;
  report({ message: `The MPIJob has no Launcher: the operator rejects it`, span: keySpanOf(other) });
}

function rename(container: Container, required: string, { document }: PodSetContext): Fix | undefined {
  const edits = replaceScalar(document, getIn(container.at, 'name'), required);
  return fix(`Rename the container to ${required}`, 'unsafe', edits);
}
