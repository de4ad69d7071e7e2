import type { BudgetFacts, Demand, Referenced, ServiceFacts } from '../model/cross-references.ts';
import type { LimitFacts } from '../model/referenced.ts';
import type { WorkloadFacts } from '../model/workload-facts.ts';
import type { Table } from '../yaml/table.ts';
import { factsAs, referenced, type Scope } from './named.ts';
import { anyObject, type Found } from './workspace.ts';

// What the objects of a namespace select by the labels of pods.

/** The objects of a kind in a namespace, in the folder of the file or above. */
export function inNamespace(scope: Scope, kind: string, namespace: string | null): readonly Found[] {
  return scope.workspace.objects(kind, namespaceOf, JSON.stringify(namespace)).above(scope);
}

function namespaceOf({ object }: Found): string {
  return JSON.stringify(object.namespace);
}

/** A second one already prevents evictions. */
const mostBudgets = 50;

/** The PodDisruptionBudgets that select pods with these labels; of very many, the first. */
export function budgetsOf(
  scope: Scope,
  namespace: string | null,
  labels: Table<string>,
): readonly Referenced<BudgetFacts>[] {
  const there = inNamespace(scope, 'PodDisruptionBudget', namespace);
  const budgets: Referenced<BudgetFacts>[] = [];
  for (const found of there) {
    const facts = factsAs(found.object, 'budget');
    if (facts === null || facts.selects === null) continue;
    const fits = Object.entries(facts.selects).every(([key, value]) => labels[key] === value);
    if (fits) budgets.push(referenced(scope, found, facts));
    // Each budget may ask for the others.
    if (budgets.length === mostBudgets) break;
  }
  return budgets;
}

/** Policies of network plugins, which admit connections in addition. */
const pluginPolicies = ['CiliumNetworkPolicy', 'CiliumClusterwideNetworkPolicy', 'GlobalNetworkPolicy'] as const;

/** The kinds that may let pods ask a name server, or keep others from them. */
export const policyKinds: readonly string[] = ['NetworkPolicy', ...pluginPolicies];

/**
 * Whether a NetworkPolicy of the namespace, or one whose namespace is set later, may let these pods ask a name server. The policies of network plugins
 * are not read.
 */
export function resolvesNames(scope: Scope, namespace: string | null, labels: Table<string>): boolean {
  if (pluginPolicies.some((kind) => scope.workspace.objects(kind, anyObject, '').countAbove(scope) > 0)) return true;
  return [...new Set([namespace, null])].some((where) => {
    const there = scope.workspace.objects('NetworkPolicy', namespaceOf, JSON.stringify(where));
    if (there.countAbove(scope) > maxCompared) return true;
    return there.above(scope).some(({ object }) => {
      const facts = factsAs(object, 'names');
      return facts !== null && Object.entries(facts.selects ?? {}).every(([key, value]) => labels[key] === value);
    });
  });
}

/** Whether the policies of a namespace, or of network plugins, may decide who reaches its pods. */
export function limitsClients(scope: Scope, namespace: string | null): boolean {
  const ofPlugins = pluginPolicies.some((kind) => scope.workspace.objects(kind, anyObject, '').countAbove(scope) > 0);
  return ofPlugins || [namespace, null].some((where) => inNamespace(scope, 'NetworkPolicy', where).length > 0);
}

/** The labels by which most selectors find their pods. An index of each is made when it is first needed. */
const usualLabels: ReadonlyMap<string, (found: Found) => string | undefined> = new Map(
  [
    'app.kubernetes.io/instance',
    'app',
    'app.kubernetes.io/name',
    'app.kubernetes.io/component',
    'component',
    'name',
  ].map((key) => [
    key,
    ({ object }: Found) => wordOfLabel(object.namespace, key, factsAs(object, 'workload')?.labels[key]),
  ]),
);

function wordOfLabel(namespace: string | null, key: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify([namespace, key, value]);
}

/** The objects of a kind in a namespace that may have these labels: a namespace may have thousands of objects. */
function withLabels(scope: Scope, kind: string, namespace: string | null, labels: Table<string>): readonly Found[] {
  for (const [key, wordOf] of usualLabels) {
    const word = wordOfLabel(namespace, key, labels[key]);
    if (word !== undefined) return scope.workspace.objects(kind, wordOf, word).above(scope);
  }
  return inNamespace(scope, kind, namespace);
}

/** The Deployments and StatefulSets whose pods have these labels. */
export function keptRunning(
  scope: Scope,
  namespace: string | null,
  labels: Table<string>,
): readonly Referenced<WorkloadFacts>[] {
  const wanted = Object.entries(labels);
  return ['Deployment', 'StatefulSet']
    .flatMap((kind) => withLabels(scope, kind, namespace, labels))
    .flatMap((found) => {
      const facts = factsAs(found.object, 'workload');
      if (facts === null || !wanted.every(([key, value]) => facts.labels[key] === value)) return [];
      return [referenced(scope, found, facts)];
    });
}

/** Each pod is compared with so many objects at most; of more, with none. */
const maxCompared = 200;

/** The Services that select pods with these labels. */
export function servicesOf(
  scope: Scope,
  namespace: string | null,
  labels: Table<string>,
): readonly Referenced<ServiceFacts>[] {
  // By one label of each selector: a workspace may have thousands of Services.
  const there = Object.entries(labels).flatMap((label) => {
    const found = scope.workspace.objects('Service', firstSelected, JSON.stringify([namespace, ...label]));
    return found.countAbove(scope) > maxCompared ? [] : found.above(scope);
  });
  return there.flatMap((found) => {
    const facts = factsAs(found.object, 'service');
    const fits = Object.entries(facts?.selects ?? {}).every(([key, value]) => labels[key] === value);
    return facts !== null && fits ? [referenced(scope, found, facts)] : [];
  });
}

/** The Services that have these labels themselves. */
export function servicesLabeled(
  scope: Scope,
  namespace: string | null,
  labels: Table<string>,
): readonly Referenced<ServiceFacts>[] {
  const there = scope.workspace.objects('Service', namespaceOf, JSON.stringify(namespace));
  if (there.countAbove(scope) > maxCompared) return [];
  return there.above(scope).flatMap((found) => {
    const facts = factsAs(found.object, 'service');
    const own = facts?.labels ?? null;
    const fits = own !== null && Object.entries(labels).every(([key, value]) => own[key] === value);
    return facts !== null && fits ? [referenced(scope, found, facts)] : [];
  });
}

/** The LimitRanges of a namespace that have bounds; none of very many. */
export function limitsIn(scope: Scope, namespace: string | null): readonly Referenced<LimitFacts>[] {
  const there = scope.workspace.objects('LimitRange', namespaceOf, JSON.stringify(namespace));
  if (there.countAbove(scope) > maxCompared) return [];
  return there.above(scope).flatMap((found) => {
    const facts = factsAs(found.object, 'limits');
    return facts === null || facts.bounds.length === 0 ? [] : [referenced(scope, found, facts)];
  });
}

function firstSelected({ object }: Found): string | undefined {
  const facts = object.facts();
  const selects = facts?.type === 'service' ? facts.facts.selects : null;
  const [first] = Object.entries(selects ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return first && JSON.stringify([object.namespace, ...first]);
}

/** Kinds that keep pods running and have facts as workloads. */
export const stayingKinds: readonly string[] = ['Deployment', 'StatefulSet', 'InferenceService'];

/** What the workloads of the same file that stay up request of a resource. */
export function demandsOf(scope: Scope, namespace: string | null, resource: string): readonly Demand[] {
  return stayingKinds
    .flatMap((kind) => inNamespace(scope, kind, namespace))
    .filter(({ key }) => key === scope.key)
    .sort((a, b) => a.object.span.start - b.object.span.start)
    .flatMap(({ object }) => {
      const count = factsAs(object, 'workload')?.demand[resource] ?? 0;
      return count > 0 ? [{ kind: object.kind, name: object.name, count }] : [];
    });
}
