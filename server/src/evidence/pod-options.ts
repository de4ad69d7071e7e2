import { knownAccelerator } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import type { PodSet, Workload } from '../model/workload.ts';
import { type Cursor, entries, getIn, keyOf } from '../yaml/cursor.ts';
import { hasAllContainers } from './chart-pods.ts';

// The fields that place a pod, and where charts read them.

const podFields = wordSet(
  'nodeSelector nodeName affinity tolerations toleration runtimeClassName schedulerName topologySpreadConstraints',
);

/** The entries of a mapping that are fields of a pod for its placement. */
export function placementFields(map: Cursor | undefined): readonly Cursor[] {
  return entries(map).filter((field) => podFields.has(keyOf(field)));
}

/** A field of a pod that its chart does not read where it is. */
interface UnreadField {
  readonly field: Cursor;
  /** The mapping and the path in it at which the chart reads the field. */
  readonly owner: Cursor;
  readonly path: readonly string[];
  /** The same in words. */
  readonly place: string;
}

/** The fields of pods that the templates of a well-known chart do not read: only its pods and the options of all pods have them. */
export function unreadFields(podSet: PodSet, workload: Workload): readonly UnreadField[] {
  return [...(hasAllContainers(workload) ? outsidePods(podSet, workload.manifest.root) : []), ...inServer(podSet)];
}

/** In a controller of the common library, in its containers and next to the controllers. */
function outsidePods({ containers }: PodSet, root: Cursor): readonly UnreadField[] {
  const controllers = root.parent?.step === 'controllers' ? root.parent : undefined;
  if (controllers === undefined) return [];
  const fieldsOf = (map: Cursor | undefined) => [...placementFields(map), getIn(map, 'resourceClaims') ?? []].flat();
  const own = [root, ...containers.map(({ at }) => at)].flatMap(fieldsOf);
  // They are for all controllers: the first one stands for them.
  const [first] = controllers.node.kind === 'map' ? controllers.node.entries : [];
  const values = first?.value === root.node ? controllers.parent : undefined;
  const shared = [values, getIn(values, 'pod')].flatMap(fieldsOf);
  return [
    ...own.map((field) => ({ field, owner: root, path: ['pod', keyOf(field)], place: "in the controller's pod" })),
    ...shared.map((field) => {
      const path = ['defaultPodOptions', keyOf(field)];
      return { field, owner: values ?? root, path, place: 'in defaultPodOptions' };
    }),
  ];
}

/** Among the settings of the server in the values of Ollama's chart. */
function inServer({ pod, containers: [server] }: PodSet): readonly UnreadField[] {
  const settings = server?.name === 'ollama' && server.at.node === pod.node ? getIn(pod, 'ollama') : undefined;
  const requested = ['limits', 'requests'].flatMap((part) =>
    entries(getIn(settings, 'resources', part))
      .filter((entry) => knownAccelerator(keyOf(entry)) !== undefined)
      .map((field) => ({ field, path: ['resources', part, keyOf(field)] })),
  );
  const placed = placementFields(settings).map((field) => ({ field, path: [keyOf(field)] }));
  return [...placed, ...requested].map((one) => ({ ...one, owner: pod, place: 'next to ollama' }));
}
