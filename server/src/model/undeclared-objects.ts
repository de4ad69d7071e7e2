import { gpusNamed } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import { asString, asText, getIn, items } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { cardChoices } from './card-choices.ts';
import { isPlatform, platformKind } from './kinds/pipeline-platform.ts';
import { isLaunchedCluster } from './kinds/ray-launched-nodes.ts';
import { machineAt } from './kinds/rented-machines.ts';
import { isPulumiProject } from './pulumi.ts';
import { isStack } from './stacks.ts';
import { chipsInName } from './tpu-slice-name.ts';

// Documents that say what they are without an apiVersion: objects of other tools, and objects of Kubernetes that lack it.

/** The version and kind of an object, with the tool's name as its group. */
export interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What a document without apiVersion is by its fields; undefined for all others, such as a chart's values. */
export function undeclaredType(root: Cursor): ObjectType | undefined {
  if (root.node.kind !== 'map' || getIn(root, 'apiVersion') !== undefined) return undefined;
  const kind = asText(getIn(root, 'kind'));
  if (kind === undefined) {
    const executors = getIn(root, 'deploymentSpec', 'executors');
    const schema = asText(getIn(root, 'schemaVersion'));
    if (isTask(root)) return { apiVersion: 'skypilot/', kind: 'Task' };
    if (isLaunchedCluster(root)) return { apiVersion: 'ray-launcher/', kind: 'Cluster' };
    if (isPlatform(root)) return { apiVersion: 'kubeflow-pipelines/', kind: platformKind };
    if (isStack(root)) return { apiVersion: 'cloudformation/', kind: 'CloudFormationTemplate' };
    if (isPulumiProject(root)) return { apiVersion: 'pulumi.com/', kind: 'Project' };
    if (isExperiment(root)) return { apiVersion: 'determined/', kind: 'Experiment' };
    const type = asText(getIn(root, 'type')) ?? '';
    if (isConfiguration(root, type)) return { apiVersion: 'dstack/', kind: type };
    return executors === undefined || schema === undefined || getIn(root, 'root') === undefined
      ? undefined
      : { apiVersion: `kubeflow-pipelines/${schema}`, kind: 'PipelineSpec' };
  }
  if (kind === 'component' || kind === 'operation') {
    const runs = getIn(root, 'run', 'kind') ?? getIn(root, 'component', 'run', 'kind');
    return runs === undefined ? undefined : { apiVersion: `polyaxon/${asText(getIn(root, 'version')) ?? ''}`, kind };
  }
  const apiVersion = versions[kind];
  return apiVersion !== undefined && hasWholePods(root) ? { apiVersion, kind } : undefined;
}

/** Whether the document is a task of SkyPilot: commands, and the accelerators of each node by the name of the card or of a machine that has them. */
function isTask(root: Cursor): boolean {
  const isScript = ['run', 'setup'].some((key) => asString(getIn(root, key)) !== undefined);
  const resources = getIn(root, 'resources');
  const blocks = [resources, ...items(getIn(resources, 'any_of')), ...items(getIn(resources, 'ordered'))];
  if (!isScript) return false;
  if (blocks.some((block) => machineAt(getIn(block, 'instance_type')) !== undefined)) return true;
  const cards = blocks.flatMap((block) => cardChoices(getIn(block, 'accelerators')));
  return cards.some(({ name }) => gpusNamed(name).length > 0 || chipsInName(name) !== null);
}

/** The field in which an experiment of Determined requests its devices. */
export const slotsKey = 'slots_per_trial';

/** Whether the document is an experiment of Determined: a search or a program, and the devices of each trial. */
function isExperiment(root: Cursor): boolean {
  const isRun = getIn(root, 'searcher') !== undefined || getIn(root, 'entrypoint') !== undefined;
  return isRun && asText(getIn(root, 'resources', slotsKey)) !== undefined;
}

/** Whether the document is a configuration of dstack that runs something on GPUs. */
function isConfiguration(root: Cursor, type: string): boolean {
  // A GPU next to the resources is a mistake.
  const isBeside = getIn(root, 'gpu') !== undefined && getIn(root, 'resources') !== undefined;
  const hasGpu = getIn(root, 'resources', 'gpu') !== undefined || isBeside;
  if (!hasGpu && !items(getIn(root, 'instance_types')).some((one) => machineAt(one) !== undefined)) return false;
  if (type === 'dev-environment') return getIn(root, 'ide') !== undefined;
  if (type !== 'task' && type !== 'service') return false;
  return items(getIn(root, 'commands')).length > 0 || asString(getIn(root, 'image')) !== undefined;
}

/** The name of an object of another tool; null if it has none. */
export function undeclaredName(root: Cursor): string | null {
  const isOther = undeclaredType(root) !== undefined && getIn(root, 'metadata') === undefined;
  return (
    (isOther
      ? asText(getIn(root, 'pipelineInfo', 'name') ?? getIn(root, 'name') ?? getIn(root, 'cluster_name'))
      : undefined) ?? null
  );
}

/** The only version of kinds that nothing else has. */
const versions = table<string>({
  Pod: 'v1',
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  ReplicaSet: 'apps/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
});

/** Whether the object has pods of its own: the containers of a patch often have no image. */
function hasWholePods(root: Cursor): boolean {
  const spec = getIn(root, 'spec');
  const pods = [spec, getIn(spec, 'template', 'spec'), getIn(spec, 'jobTemplate', 'spec', 'template', 'spec')];
  const containers = pods.flatMap((pod) => items(getIn(pod, 'containers')));
  return containers.length > 0 && containers.every((container) => getIn(container, 'image') !== undefined);
}
