import { acceleratorResource } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, getIn, items } from '../../yaml/cursor.ts';
import type { ImplicitDevices } from '../implicit-devices.ts';
import { countOf, lowerContainer, lowerContainers, lowerCount, text } from '../pod.ts';
import { lowerQuantity } from '../quantity.ts';
import { byName } from '../requested-resource.ts';
import type { Container } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, retriesAt, written } from './pod-sets.ts';

/** Engines that create pods step by step: Argo Workflows and Spark. */
export const workflowKinds: readonly KindEntry[] = [
  {
    group: 'argoproj.io',
    kinds: ['Workflow'],
    words: [],
    lower: ({ root }) => lowerWorkflow(getIn(root, 'spec')),
  },
  {
    group: 'argoproj.io',
    kinds: ['CronWorkflow'],
    words: [],
    lower: ({ root }) => lowerWorkflow(getIn(root, 'spec', 'workflowSpec')),
  },
  {
    group: 'argoproj.io',
    kinds: ['WorkflowTemplate', 'ClusterWorkflowTemplate'],
    words: [],
    role: 'definition',
    lower: ({ root }) => lowerWorkflow(getIn(root, 'spec')),
  },
  {
    group: 'sparkoperator.k8s.io',
    kinds: ['SparkApplication'],
    words: [],
    role: 'batch',
    lower: ({ root }) => lowerSpark(getIn(root, 'spec')),
  },
  {
    group: 'sparkoperator.k8s.io',
    kinds: ['ScheduledSparkApplication'],
    words: [],
    role: 'batch',
    lower: ({ root }) => lowerSpark(getIn(root, 'spec', 'template')),
  },
];

/**
 * One pod per run of a template. The number of concurrent runs depends on the steps, so it is known only if the entrypoint's own template creates
 * the pod. https://argo-workflows.readthedocs.io/en/latest/fields/
 */
function lowerWorkflow(spec: Cursor | undefined): KindLowering {
  const entrypoint = asText(getIn(spec, 'entrypoint'));
  const podSets = items(getIn(spec, 'templates')).flatMap((template): readonly PodSetSource[] => {
    const containers = templateContainers(template);
    if (containers.length === 0) return [];
    const name = asText(getIn(template, 'name')) ?? 'template';
    const pods = exactly(name === entrypoint ? 1 : null);
    const metadata = getIn(template, 'metadata') ?? getIn(spec, 'podMetadata');
    return [{ name, pod: template, metadata, replicas: undefined, pods, containers }];
  });
  const limits = items(getIn(spec, 'templates')).map((template) => getIn(template, 'retryStrategy', 'limit'));
  return {
    podSets,
    retries: retriesAt(
      limits.find((limit) => limit !== undefined),
      0,
    ),
    scaling: null,
    partial: false,
  };
}

function templateContainers(template: Cursor): readonly Container[] {
  const main = getIn(template, 'container') ?? getIn(template, 'script');
  const set = items(getIn(template, 'containerSet', 'containers')).map((container) => lowerContainer(container, 'app'));
  if (main === undefined && set.length === 0) return [];
  const sidecars = items(getIn(template, 'sidecars')).map((sidecar) => lowerContainer(sidecar, 'app'));
  const init = lowerContainers(template).filter(({ type }) => type !== 'app');
  return [...init, ...(main === undefined ? [] : [mainOf(main)]), ...set, ...sidecars];
}

/** The main container; `source` is the script that its command runs. */
function mainOf(main: Cursor): Container {
  const container = lowerContainer(main, 'app', 'main');
  const source = text(getIn(main, 'source'));
  const shell = container.command.at(-1);
  if (source === undefined || shell === undefined || !/(?:^|\/)(?:ba|z|k|da)?sh$/.test(shell.value)) return container;
  return { ...container, command: [...container.command, { value: '-c', at: source.at }, source] };
}

/** https://github.com/kubeflow/spark-operator/blob/master/docs/api-docs.md */
function lowerSpark(spec: Cursor | undefined): KindLowering {
  const executor = getIn(spec, 'executor');
  const podSets = [
    ...sparkPods('driver', getIn(spec, 'driver'), exactly(1)),
    ...sparkPods('executor', executor, executors(spec), getIn(executor, 'instances')),
  ];
  const policy = getIn(spec, 'restartPolicy');
  const never = (asText(getIn(policy, 'type')) ?? 'Never') === 'Never';
  const retries = never
    ? { limit: 0, at: getIn(policy, 'type') }
    : retriesAt(getIn(policy, 'onFailureRetries'), Number.POSITIVE_INFINITY);
  return { podSets, retries, scaling: null, partial: spec === undefined };
}

/** The pods of a role, whose `gpu` has a resource name and a quantity. */
function sparkPods(name: string, role: Cursor | undefined, pods: PodCount, replicas?: Cursor): readonly PodSetSource[] {
  if (role === undefined) return [];
  const gpu = getIn(role, 'gpu');
  const resource = asText(getIn(gpu, 'name'));
  const quantity = getIn(gpu, 'quantity');
  const implicitDevices: readonly ImplicitDevices[] =
    resource === undefined || quantity === undefined
      ? []
      : [
          {
            requested: byName(resource),
            at: gpu,
            form: acceleratorResource(resource)?.form ?? 'whole',
            vendor: acceleratorResource(resource)?.vendor ?? null,
            perPod: countOf(lowerQuantity(quantity)),
            each: 1,
          },
        ];
  const sidecars = items(getIn(role, 'sidecars')).map((sidecar) => lowerContainer(sidecar, 'app'));
  const containers = [lowerContainer(role, 'app', 'spark'), ...sidecars];
  return [{ name, pod: role, metadata: role, replicas, pods, containers, implicitDevices }];
}

function executors(spec: Cursor | undefined): PodCount {
  const dynamic = getIn(spec, 'dynamicAllocation');
  if (asBoolean(getIn(dynamic, 'enabled')) !== true) return written(getIn(spec, 'executor', 'instances'));
  const max = getIn(dynamic, 'maxExecutors');
  return between(lowerCount(getIn(dynamic, 'minExecutors'), 0), max === undefined ? null : lowerCount(max, 0));
}
