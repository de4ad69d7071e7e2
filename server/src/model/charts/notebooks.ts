import { asText, type Cursor, entries, getIn, items } from '../../yaml/cursor.ts';
import { exactly } from '../kinds/pod-sets.ts';
import { containerOf, extraResources, firstOf, isMap, podSetOf } from '../values-parts.ts';
import type { Chart, ChartBlock } from './chart.ts';

/** Charts that start a server for each user. */
export const notebookCharts: readonly Chart[] = [
  {
    names: ['jupyterhub', 'daskhub', 'binderhub'],
    source: 'https://z2jh.jupyter.org/en/stable/resources/reference.html#singleuser',
    date: '2026-11-22',
    owns: (values) =>
      isMap(getIn(values, 'singleuser')) &&
      (isMap(getIn(values, 'hub')) || isMap(getIn(values, 'proxy')) || singleuserKeys(getIn(values, 'singleuser'))),
    blocks: (values) => {
      const singleuser = getIn(values, 'singleuser');
      if (singleuser === undefined) return [];
      return [server(singleuser, singleuser, 'singleuser'), ...profiles(singleuser)];
    },
  },
];

function singleuserKeys(singleuser: Cursor | undefined): boolean {
  return firstOf(singleuser, ['profileList', 'extraResource', 'cloudMetadata', 'startTimeout']) !== undefined;
}

/** The profiles that a user can choose, each with the options in it. */
function profiles(singleuser: Cursor): readonly ChartBlock[] {
  return items(getIn(singleuser, 'profileList')).flatMap((profile) => {
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
  const set = podSetOf(block, [containerOf({ at: block, name, image, requests })]);
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
