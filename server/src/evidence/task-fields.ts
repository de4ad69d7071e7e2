import { wordSet } from '../catalog/word-patterns.ts';
import type { Workload } from '../model/workload.ts';
import { type Cursor, entries, getIn, keyOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';

/** The tools whose files are tasks. Both reject unknown fields. */
const tools = table<{
  readonly name: string;
  readonly inResources: ReadonlySet<string>;
  readonly atTop: ReadonlySet<string>;
}>({
  // https://dstack.ai/docs/reference/dstack.yml/task
  'dstack/': {
    name: 'dstack',
    inResources: wordSet('gpu cpu memory disk shm_size'),
    atTop: wordSet('nodes replicas spot_policy backends regions instance_types max_price'),
  },
  // https://docs.skypilot.co/en/latest/reference/yaml-spec.html
  'skypilot/': {
    name: 'SkyPilot',
    inResources: wordSet(
      'accelerators cloud infra region zone instance_type cpus memory disk_size disk_tier use_spot image_id ports',
    ),
    atTop: wordSet('num_nodes workdir setup run envs file_mounts'),
  },
});

/** Fields that dstack has for one type. */
const onlyOf = table<string>({ nodes: 'task', replicas: 'service' });

interface Misplaced {
  readonly field: Cursor;
  readonly tool: string;
  /** Where it belongs. */
  readonly place: string;
  readonly path: readonly string[];
}

/** Fields of a task that are next to its `resources` instead of in them, or the reverse. */
export function misplacedTaskFields({ apiVersion, kind, manifest: { root } }: Workload): readonly Misplaced[] {
  const tool = tools[apiVersion];
  if (tool === undefined) return [];
  const found = (place: string, field: Cursor): Misplaced => {
    const path = place === 'resources' ? [place, keyOf(field)] : [keyOf(field)];
    return { field, tool: tool.name, place, path };
  };
  return [
    ...entries(root).flatMap((field) => (tool.inResources.has(keyOf(field)) ? [found('resources', field)] : [])),
    ...entries(getIn(root, 'resources')).flatMap((field) =>
      tool.atTop.has(keyOf(field)) && (onlyOf[keyOf(field)] ?? kind) === kind ? [found('the top level', field)] : [],
    ),
  ];
}
