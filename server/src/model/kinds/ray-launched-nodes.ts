import { type GpuModel, gpusByLabel, instanceType } from '../../catalog/index.ts';
import { asText, type Cursor, entries, getIn, isTemplated, items } from '../../yaml/cursor.ts';
import { table } from '../../yaml/table.ts';
import { countIn } from '../count.ts';
import type { Placement } from '../workload.ts';
import { machineAt } from './rented-machines.ts';

// The machines in a file of Ray's launcher. https://docs.ray.io/en/latest/cluster/vms/references/ray-cluster-configuration.html

/** Whether the document is a cluster of Ray's launcher with accelerators on a cloud that has prices. */
export function isLaunchedCluster(root: Cursor): boolean {
  const types = getIn(root, 'available_node_types');
  return cloudOf(root) !== undefined && entries(types).some((type) => cardsOf(type) !== undefined);
}

const clouds = table<string>({ aws: 'aws', gcp: 'gcp', azure: 'azure' });

/** The cloud of a cluster; undefined for one without prices. */
export function cloudOf(root: Cursor): string | undefined {
  const type = getIn(root, 'provider', 'type');
  return isTemplated(type) ? undefined : clouds[asText(type) ?? ''];
}

/** The accelerators of a node, with its machine. */
export interface Cards {
  readonly at: Cursor;
  readonly machine: string;
  readonly models: readonly GpuModel[];
  readonly devices: number | null;
  readonly terms?: Pick<Placement, 'terms'>;
}

/** The accelerators of a node: those of its machine, or those that Google Cloud attaches to it. */
export function cardsOf(type: Cursor): Cards | undefined {
  const node = getIn(type, 'node_config');
  const at = getIn(node, 'InstanceType') ?? getIn(node, 'machineType') ?? getIn(node, 'azure_arm_parameters', 'vmSize');
  const machine = machineAt(at);
  if (machine !== undefined && at !== undefined)
    return { at, machine: machine.name, models: [machine.gpu], devices: machine.count };
  const [attached] = items(getIn(node, 'guestAccelerators'));
  const written = getIn(attached, 'acceleratorType');
  const [card = ''] = (isTemplated(written) ? '' : (asText(written) ?? '')).split('/').slice(-1);
  const models = gpusByLabel(accelerator, card);
  const name = asText(at)?.split('/').at(-1);
  if (at === undefined || name === undefined || models.length === 0 || isTemplated(at)) return undefined;
  const count = getIn(attached, 'acceleratorCount');
  const devices = count === undefined ? 1 : countIn(isTemplated(count) ? undefined : asText(count));
  const labels = [
    ['node.kubernetes.io/instance-type', name],
    [accelerator, card],
    ...(devices === null ? [] : [[`${accelerator}-count`, String(devices)] as const]),
  ] as const;
  const term = labels.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] }));
  return { at, machine: instanceType(name)?.name ?? name, models, devices, terms: { terms: [term] } };
}

const accelerator = 'cloud.google.com/gke-accelerator';
