import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { deviceMatcher } from '../../server/src/cluster/device-cel.ts';
import type { ClusterObjects } from '../../server/src/fleet/cluster-objects.ts';
import { clusterObjects } from '../../server/src/fleet/read-objects.ts';

/** The objects of a cluster in a fixture of test/fixtures/fleet. */
export function clusterFrom(file: string): ClusterObjects {
  return clusterOf(documents(file));
}

/** The objects of a cluster, as the API server would return them. */
export function clusterOf(objects: readonly unknown[]): ClusterObjects {
  return clusterObjects(objects, deviceMatcher());
}

/** The YAML documents of a fixture. */
export function documents(file: string): readonly unknown[] {
  const text = readFileSync(path.join(import.meta.dirname, '../fixtures/fleet', file), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS());
}
