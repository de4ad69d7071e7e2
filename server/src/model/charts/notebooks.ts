import { knownAccelerator } from '../../catalog/index.ts';
import { asText, type Cursor, entries, getIn, items, keyOf } from '../../yaml/cursor.ts';
import { exactly } from '../kinds/pod-sets.ts';
import { containerOf, extraResources, firstOf, isMap, podSetOf, requestOf } from '../values-parts.ts';
import type { Chart, ChartBlock } from './chart.ts';

/** Charts that start a server for each user. */
export const notebookCharts: readonly Chart[] = [
  {
    names: ['jupyterhub', 'daskhub', 'binderhub'],
    source: 'https://z2jh.jupyter.org/en/stable/resources/reference.html#singleuser',
    date: '2026-11-22',
    owns: isHub,
    blocks: (values) => {
      const singleuser = getIn(values, 'singleuser');
      if (singleuser === undefined) return [];
      // The hub's own configuration can also list profiles.
      const lists = [getIn(singleuser, 'profileList'), getIn(values, 'hub', 'config', 'KubeSpawner', 'profile_list')];
      return [server(singleuser, singleuser, 'singleuser'), ...lists.flatMap((list) => profiles(list, singleuser))];
    },
  },
];

/** Whether values are those of a JupyterHub. */
export function isHub(values: Cursor): boolean {
  const singleuser = getIn(values, 'singleuser');
  return (
    isMap(singleuser) && (isMap(getIn(values, 'hub')) || isMap(getIn(values, 'proxy')) || singleuserKeys(singleuser))
  );
}

/** The values of the JupyterHub that starts a pod. */
export function hubOf(pod: Cursor): Cursor | undefined {
  for (let at = pod.parent; at !== undefined; at = at.parent) if (isHub(at)) return at;
  return undefined;
}

function singleuserKeys(singleuser: Cursor | undefined): boolean {
  return firstOf(singleuser, ['profileList', 'extraResource', 'cloudMetadata', 'startTimeout']) !== undefined;
}

/** The profiles that a user can choose, each with the options in it. */
function profiles(list: Cursor | undefined, singleuser: Cursor): readonly ChartBlock[] {
  return items(list).flatMap((profile) => {
    const name = asText(getIn(profile, 'display_name')) ?? 'profile';
    const choices = entries(getIn(profile, 'profile_options')).flatMap((option) => entries(getIn(option, 'choices')));
    const own = getIn(profile, 'kubespawner_override');
    return [profile, ...choices].flatMap((holder) => {
      const block = getIn(holder, 'kubespawner_override');
      if (block?.node.kind !== 'map') return [];
      // Options that only add storage and the like are no pods of their own.
      const changesPod = holder !== profile && getIn(block, 'image') !== undefined;
      return [server(block, singleuser, name, changesPod ? own : undefined)];
    });
  });
}

/** The pod of one user. What an option does not override comes from its profile, and the rest from `singleuser`. */
function server(block: Cursor, singleuser: Cursor, name: string, profile?: Cursor): ChartBlock {
  const requests = extraResources(block, singleuser, profile);
  const image = getIn(block, 'image') ?? getIn(profile, 'image') ?? getIn(singleuser, 'image');
  const passed = getIn(block, 'extra_container_config', 'resources');
  const made = containerOf({ at: block, name, image, requests, ...(passed && { resources: passed }) });
  // What is ignored is read as it was meant: a rule reports it.
  const read = new Set(made.accelerators.map(({ resource }) => resource));
  const meant = ignoredRequests(block).filter((entry) => !read.has(keyOf(entry)) && read.add(keyOf(entry)));
  const accelerators = [...made.accelerators, ...meant.flatMap((entry) => requestOf(keyOf(entry), entry))];
  const set = podSetOf(block, [{ ...made, accelerators }]);
  const nodeSelector = set.nodeSelector ?? getIn(profile, 'node_selector') ?? getIn(singleuser, 'nodeSelector');
  const nodeSelectorTerms =
    set.nodeSelectorTerms ??
    getIn(profile, 'node_affinity_required') ??
    getIn(singleuser, 'extraNodeAffinity', 'required');
  const podSet = {
    ...set,
    pods: exactly(null),
    ...(block === singleuser || nodeSelector === undefined ? {} : { nodeSelector }),
    ...(nodeSelectorTerms === undefined ? {} : { nodeSelectorTerms }),
  };
  return { root: block, podSet, role: 'interactive', uncounted: true, wholeResources: true };
}

/**
 * Accelerators in places of a profile, or of `singleuser`, that KubeSpawner and its chart do not read: outside `extra_resource_limits`.
 * @param pod the mapping of the pod: `kubespawner_override`, `singleuser`, or a profile itself
 */
export function ignoredRequests(pod: Cursor): readonly Cursor[] {
  const profile = pod.step === 'kubespawner_override' ? pod.parent : undefined;
  const isKnown = pod.step === 'singleuser' || profile !== undefined || isMap(getIn(pod, 'kubespawner_override'));
  if (!isKnown || hubOf(pod) === undefined) return [];
  const resources = getIn(pod, 'resources');
  const amounts = [pod, resources].flatMap((at) => [getIn(at, 'limits'), getIn(at, 'requests')]);
  const otherNames = profile === undefined ? ['extra_resource_limits'] : similarNames(pod);
  const holders = [
    pod,
    resources,
    ...amounts,
    ...otherNames.map((key) => getIn(pod, key)),
    ...(profile === undefined ? [] : [profile, getIn(pod, 'extraResource', 'limits')]),
  ];
  return holders.flatMap((holder) => entries(holder).filter((entry) => knownAccelerator(keyOf(entry)) !== undefined));
}

/** Keys that look like KubeSpawner's `extra_resource_limits`. */
function similarNames(override: Cursor): readonly string[] {
  return entries(override)
    .map(keyOf)
    .filter(
      (key) => /^extra_?resources?(?:_?[a-z]+)?$/i.test(key) && !/^extra_resource_(?:limits|guarantees)$/.test(key),
    );
}
