import { noCrossReferences } from '../model/cross-references.ts';
import { selectsNodes } from '../model/inherited.ts';
import { kindEntry } from '../model/kinds/index.ts';
import type { PodCount } from '../model/kinds/kind.ts';
import { runsByTemplate } from '../model/kinds/workflows.ts';
import { lowerManifest } from '../model/lower.ts';
import { groupOf } from '../model/manifest.ts';
import { defaultModelOptions } from '../model/options.ts';
import { lowerSelectors } from '../model/pod.ts';
import type { StepFacts, StepRun } from '../model/referenced-pods.ts';
import type { Manifest } from '../model/workload.ts';
import { getIn } from '../yaml/cursor.ts';
import { tableOf } from '../yaml/table.ts';
import { seenNodes, seenPods } from './seen-pods.ts';

/** What an object with steps runs for one that references it: only the pods with accelerators. */
export function stepFacts(manifest: Manifest): StepFacts {
  // A definition runs nothing itself; its steps are those of an object that would run it.
  const podSets = lowerManifest(manifest, defaultModelOptions)?.podSets ?? [];
  const holds = podSets.map(({ containers }) => containers.some(({ accelerators }) => accelerators.length > 0));
  const runsOf = (counts: readonly PodCount[]): readonly StepRun[] =>
    podSets.flatMap((podSet, index) => {
      const { min, max, stages }: PodCount = counts[index] ?? { min: null, max: null };
      const runs = { name: podSet.name, min, max, ...(stages && { stages }) };
      return holds[index] === true && max !== 0 ? [{ ...runs, ...seenPods(podSet) }] : [];
    });
  const spec = getIn(manifest.root, 'spec');
  const isArgo = groupOf(manifest.apiVersion) === 'argoproj.io';
  const byTemplate = isArgo ? runsByTemplate(spec) : tableOf([['', countsOf(manifest)]]);
  const whole = isArgo && spec !== undefined ? seenNodes(lowerSelectors(spec), spec) : undefined;
  return {
    runs: tableOf(Object.entries(byTemplate).map(([name, counts]) => [name, runsOf(counts)])),
    ...(whole && selectsNodes(whole) && { whole }),
  };
}

/** The pods as the table of kinds counts them: a definition has no number itself. */
function countsOf(manifest: Manifest): readonly PodCount[] {
  const entry = kindEntry(groupOf(manifest.apiVersion), manifest.kind);
  const input = { ...manifest, options: defaultModelOptions, crossReferences: noCrossReferences };
  return (entry?.lower(input).podSets ?? []).map(({ pods }) => pods);
}
