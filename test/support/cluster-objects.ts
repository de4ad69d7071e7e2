import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { deviceMatcher } from '../../server/src/cluster/device-cel.ts';
import { listPrices } from '../../server/src/cost/custom-prices.ts';
import { nodePricing } from '../../server/src/cost/node-price.ts';
import type { ClusterObjects } from '../../server/src/fleet/cluster-objects.ts';
import { answerFit } from '../../server/src/fleet/fit.ts';
import type { LiveCluster } from '../../server/src/fleet/fit-question.ts';
import { viewMaker } from '../../server/src/fleet/view.ts';
import { clusterObjects } from './read-objects.ts';

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

/** A connected cluster that answers at once. */
export function liveClusterOf(objects: ClusterObjects, asOf = Date.parse('2026-11-22T14:02:00')): LiveCluster {
  const about = { context: 'prod', serverVersion: 'v1.36.2', state: { kind: 'current' }, asOf, coverage: [] } as const;
  const { view } = viewMaker(nodePricing(listPrices))(objects, about);
  return { view, answer: (question) => answerFit(question, objects, { context: 'prod', asOf, gaps: [] }) };
}
