import { acceleratorResource } from '../../catalog/index.ts';
import type { Cursor } from '../../yaml/cursor.ts';
import { asBoolean, asText, at, items } from '../../yaml/cursor.ts';
import type { GivenAccelerator } from '../given.ts';
import { countOf, lowerContainer, lowerContainers, lowerCount } from '../pod.ts';
import { lowerQuantity } from '../quantity.ts';
import type { Container } from '../workload.ts';
import type { KindEntry, KindLowering, PodCount, PodSetSource } from './kind.ts';
import { between, exactly, retriesAt, written } from './pod-sets.ts';

/** Engines that make pods step by step: Argo Workflows and Spark. */
export const workflowKinds: readonly KindEntry[] = [
  { group: 'argoproj.io', kinds: ['Workflow'], lower: ({ root }) => lowerWorkflow(at(root, 'spec')) },
  {
    group: 'argoproj.io',
    kinds: ['CronWorkflow'],
    lower: ({ root }) => lowerWorkflow(at(root, 'spec', 'workflowSpec')),
  },
  {
    group: 'argoproj.io',
    kinds: ['WorkflowTemplate', 'ClusterWorkflowTemplate'],
    role: 'definition',
    lower: ({ root }) => lowerWorkflow(at(root, 'spec')),
  },
  {
    group: 'sparkoperator.k8s.io',
    kinds: ['SparkApplication'],
    role: 'batch',
    lower: ({ root }) => lowerSpark(at(root, 'spec')),
  },
  {
    group: 'sparkoperator.k8s.io',
    kinds: ['ScheduledSparkApplication'],
    role: 'batch',
    lower: ({ root }) => lowerSpark(at(root, 'spec', 'template')),
  },
];

/**
 * One pod for each run of a template. How many run at a time depends on the steps, so it is told only where the template that the
 * workflow starts with is the one that makes the pod. https://argo-workflows.readthedocs.io/en/latest/fields/
 */
function lowerWorkflow(spec: Cursor | undefined): KindLowering {
  const entrypoint = asText(at(spec, 'entrypoint'));
  const podSets = items(at(spec, 'templates')).flatMap((template): readonly PodSetSource[] => {
    const containers = templateContainers(template);
    if (containers.length === 0) return [];
    const name = asText(at(template, 'name')) ?? 'template';
    const pods = exactly(name === entrypoint ? 1 : null);
    const metadata = at(template, 'metadata') ?? at(spec, 'podMetadata');
    return [{ name, pod: template, metadata, replicas: undefined, pods, containers }];
  });
  const limits = items(at(spec, 'templates')).map((template) => at(template, 'retryStrategy', 'limit'));
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
  const main = at(template, 'container') ?? at(template, 'script');
  const set = items(at(template, 'containerSet', 'containers')).map((container) => lowerContainer(container, 'app'));
  if (main === undefined && set.length === 0) return [];
  const sidecars = items(at(template, 'sidecars')).map((sidecar) => lowerContainer(sidecar, 'app'));
  const init = lowerContainers(template).filter(({ type }) => type !== 'app');
  return [...init, ...(main === undefined ? [] : [lowerContainer(main, 'app', 'main')]), ...set, ...sidecars];
}

/** https://github.com/kubeflow/spark-operator/blob/master/docs/api-docs.md */
function lowerSpark(spec: Cursor | undefined): KindLowering {
  const executor = at(spec, 'executor');
  const podSets = [
    ...sparkPods('driver', at(spec, 'driver'), exactly(1)),
    ...sparkPods('executor', executor, executors(spec), at(executor, 'instances')),
  ];
  const policy = at(spec, 'restartPolicy');
  const never = (asText(at(policy, 'type')) ?? 'Never') === 'Never';
  const retries = never
    ? { limit: 0, at: at(policy, 'type') }
    : retriesAt(at(policy, 'onFailureRetries'), Number.POSITIVE_INFINITY);
  return { podSets, retries, scaling: null, partial: spec === undefined };
}

/** A GPU is named by its resource and a quantity, beside cores and memory. */
function sparkPods(name: string, role: Cursor | undefined, pods: PodCount, replicas?: Cursor): readonly PodSetSource[] {
  if (role === undefined) return [];
  const gpu = at(role, 'gpu');
  const resource = asText(at(gpu, 'name'));
  const quantity = at(gpu, 'quantity');
  const given: readonly GivenAccelerator[] =
    resource === undefined || quantity === undefined
      ? []
      : [
          {
            resource,
            at: gpu,
            form: acceleratorResource(resource)?.form ?? 'whole',
            vendor: acceleratorResource(resource)?.vendor ?? null,
            perPod: countOf(lowerQuantity(quantity)),
            each: 1,
          },
        ];
  const sidecars = items(at(role, 'sidecars')).map((sidecar) => lowerContainer(sidecar, 'app'));
  const containers = [lowerContainer(role, 'app', 'spark'), ...sidecars];
  return [{ name, pod: role, metadata: role, replicas, pods, containers, given }];
}

function executors(spec: Cursor | undefined): PodCount {
  const dynamic = at(spec, 'dynamicAllocation');
  if (asBoolean(at(dynamic, 'enabled')) !== true) return written(at(spec, 'executor', 'instances'));
  const max = at(dynamic, 'maxExecutors');
  return between(lowerCount(at(dynamic, 'minExecutors'), 0), max === undefined ? null : lowerCount(max, 0));
}
