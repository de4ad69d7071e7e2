import type { YamlDocument } from '../yaml/node.ts';
import { lowerManifests } from './manifest.ts';
import { manifestsInTexts } from './manifests-in-texts.ts';
import { manifestsInValues } from './manifests-in-values.ts';
import type { Manifest } from './workload.ts';

/** All objects of a document: its own, and those in its texts and in the values that it carries. */
export function documentManifests(document: YamlDocument): readonly Manifest[] {
  const own = lowerManifests(document);
  return [...own, ...manifestsInTexts(document), ...manifestsInValues(document, own)];
}
