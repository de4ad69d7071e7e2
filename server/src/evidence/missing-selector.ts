import { wordSet } from '../catalog/word-patterns.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { likeKind } from '../model/kinds/index.ts';
import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { type Cursor, entries, getIn, isIncomplete, isUnseen, keyOf } from '../yaml/cursor.ts';

/** What a patch for GPUs sets in a container. */
const patched = wordSet('name image imagePullPolicy resources env envFrom');

/**
 * The template of a Deployment, StatefulSet or DaemonSet that says all else about its pods, but has no selector and no labels. A patch of one looks
 * like it if it sets the image.
 */
export function missingSelector(workload: Workload): Cursor | undefined {
  const { apiVersion, kind, manifest, podSets } = workload;
  if (apiVersion !== 'apps/v1' || likeKind(groupOf(apiVersion), kind)?.staysUp !== true || manifest.isPatch === true)
    return undefined;
  const { root, document } = manifest;
  const spec = getIn(root, 'spec');
  const template = getIn(spec, 'template');
  const [podSet] = podSets;
  const isOpen = [root, getIn(root, 'metadata'), spec, template, podSet?.pod].some(
    (part) => part === undefined || isIncomplete(part) || isUnseen(part),
  );
  if (isOpen || podSet === undefined || document.template || getIn(root, 'metadata', 'name') === undefined)
    return undefined;
  if (getIn(spec, 'selector') !== undefined || getIn(template, 'metadata', 'labels') !== undefined) return undefined;
  const isWhole = podSet.containers.every(
    ({ at }) =>
      ['name', 'image', 'resources'].every((key) => getIn(at, key) !== undefined) &&
      entries(at).some((entry) => !patched.has(keyOf(entry))),
  );
  return isWhole && podSet.containers.length > 0 && namesAccelerators(podSet) ? template : undefined;
}
