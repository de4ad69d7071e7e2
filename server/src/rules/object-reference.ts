import { nearestOfFew } from '../catalog/spelling.ts';
import { canMount, lostControllers } from '../evidence/chart-controllers.ts';
import { hasAllContainers, mayBeCompleted } from '../evidence/chart-pods.ts';
import { disksWithoutVolume } from '../evidence/machine-disks.ts';
import { lostNames } from '../evidence/own-names.ts';
import { isPodSpec, isWholePod, rejectionOf } from '../evidence/rejection.ts';
import { wholeWorkflow } from '../evidence/whole-workflow.ts';
import { lostExpressions } from '../evidence/workflow-names.ts';
import { isSet, isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import { isStrayField } from '../model/charts/apps.ts';
import { groupOf } from '../model/manifest.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type WorkloadContext } from './rule.ts';

/**
 * A part of an object refers to another part of it that does not exist.
 *
 * ## Why
 *
 * A volumeMount names a volume of its pod, and the selector of a Deployment matches the labels of its own template. The API server checks both
 * when the object is created, and rejects it if they do not agree. A Job gets its selector from the API server and must not have its own,
 * not even that of the Job from which it is copied.
 * JobSets, Argo workflows and Tekton pipelines refer to their own jobs, templates and tasks by name, also in expressions such as `{{inputs.parameters.rate}}`.
 * In values of app-template, the mounts of a container that the controller does not have, or of a controller that does not exist, are ignored,
 * and a Service of such a controller cannot be installed.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       volumeMounts:
 *         - name: dshm
 *           mountPath: /dev/shm
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *   volumes:
 *     - name: shm
 *       emptyDir:
 *         medium: Memory
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       volumeMounts:
 *         - name: shm
 *           mountPath: /dev/shm
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 *   volumes:
 *     - name: shm
 *       emptyDir:
 *         medium: Memory
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the part may be missing instead.
 *
 * ## When it is silent
 *
 * In patches and definitions, for templates, for kinds whose controllers add volumes, and for the selectors of Jobs with a status.
 *
 * ## Sources
 *
 * - [JobSet: its webhook](https://github.com/kubernetes-sigs/jobset/blob/main/pkg/webhooks/jobset_webhook.go)
 * - [Argo Workflows: DAG](https://argo-workflows.readthedocs.io/en/latest/walk-through/dag/)
 * - [Tekton: runAfter](https://tekton.dev/docs/pipelines/pipelines/#using-the-runafter-field)
 * - [KubeVirt: disks and volumes](https://kubevirt.io/user-guide/storage/disks_and_volumes/)
 * - [Kubernetes: volumes](https://kubernetes.io/docs/concepts/storage/volumes/)
 * - [Kubernetes: selector of a Deployment](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#selector)
 * - [app-template: volume mounts](https://github.com/bjw-s-labs/helm-charts/blob/main/charts/library/common/templates/lib/container/fields/_volumeMounts.tpl)
 * - [app-template: validation of Services](https://github.com/bjw-s-labs/helm-charts/blob/main/charts/library/common/templates/lib/service/_validate.tpl)
 * - [Kubernetes: Job selector](https://kubernetes.io/docs/concepts/workloads/controllers/job/#specifying-your-own-pod-selector)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  workload(workload, context) {
    const { kind, apiVersion, manifest } = workload;
    const group = groupOf(apiVersion);
    checkNames(workload, context);
    if (hasAllContainers(workload)) checkChartMounts(manifest.root, context);
    if (hasAllContainers(workload) && !mayBeCompleted(workload)) checkControllers(manifest.root, context);
    if (group === 'apps') checkSelector(workload, context);
    for (const { pod } of group === 'kubevirt.io' ? workload.podSets : []) {
      for (const name of disksWithoutVolume(manifest.root, pod)) {
        context.report({
          message: `Disk ${shorten(asText(name) ?? '', 60)} has no volume of the same name: KubeVirt rejects the virtual machine`,
          span: spanOf(name),
        });
      }
    }
    if (group === 'batch' && kind === 'CronJob') {
      checkJobSelector(getIn(manifest.root, 'spec', 'jobTemplate', 'spec'), context);
    }
    if (group === 'batch' && kind === 'Job') {
      checkJobSelector(getIn(manifest.root, 'spec'), context);
      if (asBoolean(getIn(manifest.root, 'spec', 'manualSelector')) === true) checkSelector(workload, context);
    }
  },
  podSet(podSet, context) {
    if (!podSet.containers.some((one) => mountsOf(one).length > 0)) return;
    const spec = wholeWorkflow(context.workload);
    if (spec === undefined ? !isWholePod(podSet, context.workload) : !isPodSpec(podSet, context.workload)) return;
    const volumes = getIn(podSet.pod, 'volumes');
    if (isIncomplete(volumes) || isIncomplete(podSet.pod) || isTemplated(volumes)) return;
    // StatefulSets and LeaderWorkerSets make volumes of claims, and so do newer JobSets.
    const claims = claimPaths.flatMap((path) => placesAt(context.manifest.root, path));
    const declared = [
      ...[volumes, getIn(spec, 'volumes')].flatMap(items).map((volume) => getIn(volume, 'name')),
      ...claims.flatMap((list) => items(list).map((claim) => getIn(claim, 'metadata', 'name'))),
    ];
    if (declared.some((name) => name === undefined || isUnknown(name)) || claims.some(isUnseen)) return;
    const names = declared.flatMap((name) => asText(name) ?? []);
    for (const container of podSet.containers) checkMounts(container, names, podSet, context);
  },
});

const claimPaths = [
  'spec.volumeClaimTemplates',
  'spec.leaderWorkerTemplate.volumeClaimTemplates',
  'spec.volumeClaimPolicies.*.templates',
  'spec.workflowSpec.volumeClaimTemplates',
];

/** Volumes that the API server adds for the token of a pod, whose printed form has the mount, and the MPI operator for hosts and keys. */
const added = /^(?:kube-api-access-|mpi-job-|ssh-auth$)/;

const mountsOf = ({ at }: Container) => ['volumeMounts', 'volumeDevices'].flatMap((key) => items(getIn(at, key)));

function checkMounts(container: Container, volumes: readonly string[], podSet: PodSet, context: PodSetContext): void {
  for (const mount of mountsOf(container)) {
    const at = getIn(mount, 'name');
    const name = writtenText(at);
    if (at === undefined || name === undefined || volumes.includes(name) || added.test(name)) continue;
    const mounted = new Set(podSet.containers.flatMap((one) => one.volumeMounts.map((other) => other.name)));
    const free = volumes.filter((volume) => !mounted.has(volume));
    const known = volumes.length === 0 ? 'which has no volumes' : `which has only ${listed(volumes)}`;
    context.report({
      message: `Volume "${shorten(name, 30)}" is mounted but not defined in the pod, ${known}: ${rejectionOf(context.workload)}`,
      span: spanOf(at),
      fixes: () =>
        free.map((volume) => fix(`Mount volume ${volume}`, 'unsafe', replaceScalar(context.document, at, volume))),
    });
  }
}

/** The mounts of app-template, by controller and container. The chart ignores those of a container that the controller does not have. */
function checkChartMounts(controller: Cursor, context: WorkloadContext): void {
  const controllers = controller.parent;
  const holders = ['containers', 'initContainers'].map((key) => getIn(controller, key));
  const names = holders.flatMap(entries).flatMap((entry) => (isStrayField(entry) ? [] : keyOf(entry)));
  if (controllers?.step !== 'controllers' || holders.some((one) => isIncomplete(one) || isTemplated(one))) return;
  for (const volume of entries(getIn(controllers.parent, 'persistence'))) {
    if (asBoolean(getIn(volume, 'enabled')) === false) continue;
    for (const mounts of entries(getIn(volume, 'advancedMounts', keyOf(controller)))) {
      const name = keyOf(mounts);
      if (names.includes(name) || /[{}$*<]/.test(name) || items(mounts).length === 0) continue;
      context.report({
        severity: 'warning',
        message: `advancedMounts names container ${shorten(name, 16)}, but ${shorten(keyOf(controller), 16)} has only ${listed(names)}: the chart does not mount ${shorten(keyOf(volume), 16)}`,
        span: keySpanOf(mounts),
        fixes: () =>
          names
            .slice(0, maxChoices)
            .filter((other) => getIn(mounts.parent, other) === undefined)
            .map((other) =>
              fix(`Mount in container ${shorten(other)}`, 'unsafe', renameKey(context.document, mounts, other)),
            ),
      });
    }
  }
}

/** As many fixes as one can choose from: each finding of generated values would have all names. */
const maxChoices = 8;

function checkControllers(controller: Cursor, { document, report }: WorkloadContext): void {
  for (const { at, name, owner, of, known } of lostControllers(controller)) {
    const subject = of === 'volume' ? 'advancedMounts' : `Service ${shorten(keyOf(owner), 16)}`;
    const then = of === 'volume' ? `does not mount ${shorten(keyOf(owner), 16)}` : 'cannot be installed';
    const change = (other: string) =>
      of === 'volume' ? renameKey(document, at, other) : replaceScalar(document, at, other);
    report({
      severity: of === 'volume' ? 'warning' : 'error',
      message: `${subject} names controller ${shorten(name, 16)}, but the values have only ${listed(known)}: the chart ${then}`,
      span: of === 'volume' ? keySpanOf(at) : spanOf(at),
      fixes: () =>
        known
          .slice(0, maxChoices)
          .filter((other) => of === 'service' || canMount(at, getIn(controller.parent, other)))
          .map((other) => fix(`Change to controller ${shorten(other)}`, 'unsafe', change(other))),
    });
  }
}

function checkNames({ kind, manifest }: Workload, { document, report }: WorkloadContext): void {
  for (const { problem, span } of lostExpressions(manifest))
    report({ message: `${problem}: Argo rejects the ${kind}`, span });
  for (const { name, at, what, known, effect } of lostNames(manifest)) {
    report({
      severity: effect === undefined ? 'error' : 'warning',
      message: `No ${what} is named ${shorten(name, 30)}, only ${listed(known)}: ${effect ?? `its controller rejects the ${kind}`}`,
      span: spanOf(at),
      fixes: () => {
        const others = effect === undefined ? nearestOfFew(name, known) : [];
        return others.map((other) => fix(`Change to ${other}`, 'unsafe', replaceScalar(document, at, other)));
      },
    });
  }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 2).map((name) => shorten(name, 20));
  return names.length > 2 ? `${shown.join(', ')} and ${names.length - 2} more` : shown.join(' and ');
}

function checkSelector({ kind, apiVersion, manifest, partial }: Workload, context: WorkloadContext): void {
  const spec = getIn(manifest.root, 'spec');
  const selector = getIn(spec, 'selector');
  const template = getIn(spec, 'template');
  const labels = getIn(template, 'metadata', 'labels');
  if (partial || selector === undefined || template === undefined) return;
  const isUnclear = (at: Cursor | undefined) => isIncomplete(at) || isTemplated(at) || items(at).length > 0;
  if ([selector, template, getIn(template, 'metadata'), labels].some(isUnclear)) return;
  const isEmpty = ['matchLabels', 'matchExpressions'].every((key) => {
    const part = getIn(selector, key);
    return part === undefined || (!isTemplated(part) && items(part).length === 0 && entries(part).length === 0);
  });
  if (isEmpty && selector.node.kind === 'map' && groupOf(apiVersion) === 'apps') {
    const message = `The selector is empty, but must select the pods of the template: the API server rejects the ${kind}`;
    context.report({ message, span: keySpanOf(selector) });
  }
  const label = (key: string) => getIn(labels, key);
  for (const expression of items(getIn(selector, 'matchExpressions')))
    checkExpression(expression, labels, kind, context);
  for (const wanted of entries(getIn(selector, 'matchLabels'))) {
    const key = keyOf(wanted);
    const found = label(key);
    const value = asText(wanted);
    if (value === undefined || /[${}<>%]/.test(key) || isUnknown(wanted) || isUnknown(found)) continue;
    const text = asText(found);
    if (text === value || entries(labels).some((entry) => /[${}<>%]/.test(keyOf(entry)))) continue;
    const is = found === undefined ? 'has no such label' : `has ${shorten(text ?? 'no value', 30)}`;
    context.report({
      message: `Selector ${shorten(`${key}: ${value}`, 50)} does not match the pod template, which ${is}: the API server rejects the ${kind}`,
      span: spanOf(wanted),
      fixes: () => [
        text === undefined || text === ''
          ? undefined
          : fix(`Select ${text}`, 'unsafe', replaceScalar(context.document, wanted, text)),
        found === undefined
          ? undefined
          : fix(`Set the label to ${value}`, 'unsafe', replaceScalar(context.document, found, value)),
      ],
    });
  }
}

function checkExpression(
  expression: Cursor,
  labels: Cursor | undefined,
  kind: string,
  { report }: WorkloadContext,
): void {
  const key = writtenText(getIn(expression, 'key'));
  const operator = writtenText(getIn(expression, 'operator'));
  const values = items(getIn(expression, 'values'));
  const label = key === undefined ? undefined : getIn(labels, key);
  if (key === undefined || isUnknown(label) || values.some(isUnknown) || isIncomplete(expression)) return;
  const has = label !== undefined && values.some((value) => asText(value) === asText(label));
  const matches =
    operator === 'In'
      ? has || values.length === 0
      : operator === 'NotIn'
        ? !has
        : operator === 'Exists'
          ? label !== undefined
          : true;
  if (matches) return;
  report({
    message: `Selector ${shorten(`${key} ${operator}`, 50)} does not match the labels of the pod template: the API server rejects the ${kind}`,
    span: spanOf(getIn(expression, 'key') ?? expression),
  });
}

function checkJobSelector(spec: Cursor | undefined, { workload, report }: WorkloadContext): void {
  const selector = getIn(spec, 'selector');
  const manual = getIn(spec, 'manualSelector');
  if (!isSet(selector) || isIncomplete(spec) || isUnknown(manual) || asBoolean(manual) === true) return;
  // The API server completes an empty selector.
  if (
    selector.node.kind === 'map' &&
    entries(selector).every((part) => entries(part).length + items(part).length === 0)
  )
    return;
  if (isTemplated(selector) || getIn(spec, 'template') === undefined) return;
  // The API server makes selectors. A Job without a uid is a new one, with another.
  const { root } = workload.manifest;
  const isMade = entries(getIn(selector, 'matchLabels')).some((entry) => /controller-uid$/.test(keyOf(entry)));
  if (isMade && isSet(getIn(root, 'status'))) return;
  if (isMade && isSet(getIn(root, 'metadata', 'uid'))) {
    report({
      message:
        'This Job was exported from a cluster: the API server rejects a new Job with its selector and controller-uid labels',
      span: keySpanOf(selector),
      severity: 'warning',
    });
    return;
  }
  report({
    message:
      workload.kind === 'CronJob'
        ? 'The Jobs of a CronJob must not have their own selector: the API server rejects the CronJob'
        : 'A Job must not have its own selector without manualSelector: true: the API server rejects the Job',
    span: keySpanOf(selector),
  });
}
