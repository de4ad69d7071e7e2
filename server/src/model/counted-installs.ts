import { asText, getIn, rootCursor } from '../yaml/cursor.ts';
import { countWhere } from '../yaml/document-marks.ts';
import type { YamlDocument } from '../yaml/node.ts';
import type { Workload } from './workload.ts';

// What counts in an install of a chart does not count a second time where it is written.

/** The workloads that are in none of the objects and releases of which other files tell what they run. */
export function outsideOf(resolved: readonly Workload[], workloads: readonly Workload[]): readonly Workload[] {
  const ends = new Map(resolved.map(({ manifest }) => [manifest.root.node.span.start, manifest.root.node.span.end]));
  const starts = [...ends.keys()].sort((a, b) => a - b);
  return workloads.filter(({ manifest }) => {
    const own = manifest.root.node.span.start;
    const last = starts[countWhere(starts, (start) => start <= own) - 1];
    return last === undefined || own >= (ends.get(last) ?? 0);
  });
}

/**
 * Whether a document is a ConfigMap whose values a release in its file reads.
 * @param installs with the texts of ConfigMaps by the layers of values that they are
 */
export function isReadByInstall(
  { root }: YamlDocument,
  installs: Iterable<{ readonly maps: ReadonlyMap<string, string> }>,
): boolean {
  if (root === null) return false;
  const at = rootCursor(root);
  const start = `{"configMap":${JSON.stringify(asText(getIn(at, 'metadata', 'name')))},`;
  const isNamed = (layer: string) => layer.startsWith(start);
  return asText(getIn(at, 'kind')) === 'ConfigMap' && [...installs].some(({ maps }) => [...maps.keys()].some(isNamed));
}
