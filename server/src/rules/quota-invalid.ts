import { either, wordSet } from '../catalog/word-patterns.ts';
import { isPlaceholderText, isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import { keyProblem } from '../model/api-syntax.ts';
import { lowerQuantity, parseQuantity } from '../model/quantity.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A LimitRange or a ResourceQuota that the API server rejects.
 *
 * ## Why
 *
 * In a LimitRange, the default request must not be above the default limit, and both must be between min and max. Devices cannot be overcommitted, so
 * their default request must be equal to their default limit. In a ResourceQuota, resources other than Kubernetes' own have a domain, and its scopes must
 * not contradict each other.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: LimitRange
 * metadata:
 *   name: gpus
 * spec:
 *   limits:
 *     - type: Container
 *       default:
 *         nvidia.com/gpu: 1
 *       defaultRequest:
 *         nvidia.com/gpu: 2
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: LimitRange
 * metadata:
 *   name: gpus
 * spec:
 *   limits:
 *     - type: Container
 *       max:
 *         nvidia.com/gpu: 2
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the fix for `gpu` assumes NVIDIA GPUs.
 *
 * ## When it is silent
 *
 * For templates. quota-never-counted reports the names that are accepted and never counted.
 *
 * ## Sources
 *
 * - [Kubernetes: LimitRange](https://kubernetes.io/docs/concepts/policy/limit-range/)
 * - [Kubernetes: ResourceQuota](https://kubernetes.io/docs/concepts/policy/resource-quotas/)
 */
export default defineRule({
  topic: 'quota',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion }, context) {
    if (apiVersion !== 'v1') return;
    const spec = getIn(root, 'spec');
    if (kind === 'LimitRange') for (const limit of items(getIn(spec, 'limits'))) checkLimit(limit, context);
    if (kind === 'ResourceQuota') {
      for (const entry of entries(getIn(spec, 'hard'))) checkHard(entry, context);
      checkScopes(items(getIn(spec, 'scopes')), context);
      checkScopes(placesAt(spec, 'scopeSelector.matchExpressions.*.scopeName'), context);
      checkBestEffort(spec, context);
      for (const one of placesAt(spec, 'scopeSelector.matchExpressions.*')) checkSelector(one, context);
    }
  },
});

const ofRange = 'the API server rejects the LimitRange';
const ofQuota = 'the API server rejects the ResourceQuota';

/** In ascending order. */
const bounds = ['min', 'defaultRequest', 'default', 'max'];

function checkLimit(limit: Cursor, { report }: RuleContext): void {
  if (isIncomplete(limit)) return;
  const written = bounds.flatMap((bound) => getIn(limit, bound) ?? []);
  if (writtenText(getIn(limit, 'type')) === 'Pod') {
    for (const bound of written.filter((one) => /^default/.test(keyOf(one)))) {
      report({ message: `A limit of type Pod must not have ${keyOf(bound)}: ${ofRange}`, span: keySpanOf(bound) });
    }
    return;
  }
  for (const resource of new Set(written.flatMap((bound) => entries(bound).map(keyOf)))) {
    const values = written.flatMap((bound) => getIn(bound, resource) ?? []).filter((one) => !isUnknown(one));
    checkOrder(values, resource, report);
    checkUnit(values[0], resource, report);
  }
}

/** A name with a domain or one of Kubernetes' own, and whole devices. */
function checkUnit(value: Cursor | undefined, resource: string, report: RuleContext['report']): void {
  if (value === undefined || isPlaceholderText(resource)) return;
  const name = shorten(resource, 50);
  const problem = resource.includes('/') ? keyProblem(resource) : limited.test(resource) ? undefined : 'has no domain';
  if (problem !== undefined) {
    report({ message: `Resource ${name} ${problem}: ${ofRange}`, span: keySpanOf(value) });
    return;
  }
  const { value: amount, text } = lowerQuantity(value);
  if (!resource.includes('/') || amount === null || Number.isInteger(amount)) return;
  report({ message: `${name} must be a whole number, not ${text}: ${ofRange}`, span: spanOf(value) });
}

const limited = /^(?:cpu|memory|storage|ephemeral-storage|hugepages-.+)$/;

/** Reports the first bound that is above the next one. */
function checkOrder(values: readonly Cursor[], resource: string, report: RuleContext['report']): void {
  const name = shorten(resource, 50);
  const boundOf = (value: Cursor) => String(value.parent?.step);
  for (const [index, value] of values.entries()) {
    const lower = lowerQuantity(value);
    for (const next of values.slice(index + 1)) {
      const higher = lowerQuantity(next);
      if (lower.value === null || higher.value === null) continue;
      const devices = resource.includes('/') && boundOf(value) === 'defaultRequest' && boundOf(next) === 'default';
      if (devices ? lower.value === higher.value : lower.value <= higher.value) continue;
      const wanted = devices ? 'must be equal to' : 'must not be above';
      report({
        message: `${boundOf(value)} of ${name} (${lower.text}) ${wanted} ${boundOf(next)} (${higher.text}): ${ofRange}`,
        span: spanOf(value),
      });
      return;
    }
  }
}

const standard = either(
  /^(?:(?:requests|limits)\.)?(?:cpu|memory|ephemeral-storage)$/,
  /^(?:requests\.)?(?:storage|hugepages-.+)$/,
  /^services\.(?:loadbalancers|nodeports)$/,
);
const objects = wordSet(
  'pods services secrets configmaps persistentvolumeclaims',
  'replicationcontrollers resourcequotas',
);

function isStandard(name: string): boolean {
  return objects.has(name) || standard.test(name);
}

function checkHard(entry: Cursor, { report, document }: RuleContext): void {
  const name = keyOf(entry);
  if (/[${}<>%]/.test(name)) return;
  const gpu = /^(?:(?:requests|limits)\.)?gpus?$/i.test(name);
  const problem = name.includes('/') ? keyProblem(name) : isStandard(name) ? undefined : 'has no domain';
  if (problem !== undefined) {
    report({
      message: `Resource ${shorten(name, 50)} ${problem}: ${ofQuota}`,
      span: keySpanOf(entry),
      fixes: () =>
        gpu
          ? [fix('Rename to requests.nvidia.com/gpu', 'unsafe', renameKey(document, entry, 'requests.nvidia.com/gpu'))]
          : [],
    });
    return;
  }
  const text = asText(entry);
  const value = text === undefined || isUnknown(entry) ? null : parseQuantity(text);
  if (value === null) return;
  // The server takes `requests.` for a resource of containers, and rounds no fraction.
  const counted =
    (name.includes('/') && !name.startsWith('requests.')) ||
    /^(?:pods|services|secrets|configmaps|persistentvolumeclaims)/.test(name);
  if (value >= 0 && (!counted || Number.isInteger(value))) return;
  report({
    message: `${shorten(name, 50)} must be ${counted ? 'a whole number' : 'at least 0'}, not ${text}: ${ofQuota}`,
    span: spanOf(entry),
  });
}

function checkSelector(expression: Cursor, { report }: RuleContext): void {
  const operator = getIn(expression, 'operator');
  const values = getIn(expression, 'values');
  const written = writtenText(operator);
  if (operator === undefined || written === undefined || isIncomplete(expression) || isIncomplete(values)) return;
  const needs = /^(In|NotIn)$/.test(written);
  if (!needs && !/^(Exists|DoesNotExist)$/.test(written)) return;
  if (needs === items(values).length > 0) return;
  report({
    message: `Operator ${written} ${needs ? 'needs' : 'takes no'} values: ${ofQuota}`,
    span: spanOf(operator),
  });
}

/** Pods without requests are only counted. */
function checkBestEffort(spec: Cursor | undefined, { report }: RuleContext): void {
  const scope = placesAt(spec, 'scopes.*').find((one) => writtenText(one) === 'BestEffort');
  const hard = entries(getIn(spec, 'hard')).map(keyOf);
  const other = hard.find((name) => standard.test(name) && name !== 'pods');
  if (scope === undefined || other === undefined) return;
  report({
    message: `Scope BestEffort can only limit pods, not ${shorten(other, 40)}: ${ofQuota}`,
    span: spanOf(scope),
  });
}

const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

function checkScopes(scopes: readonly Cursor[], { report }: RuleContext): void {
  for (const pair of opposites) {
    const found = scopes.filter((scope) => pair.includes(writtenText(scope) ?? ''));
    const [first, second] = found;
    if (first === undefined || second === undefined || asText(first) === asText(second)) continue;
    report({
      message: `Scopes ${asText(first)} and ${asText(second)} are mutually exclusive: ${ofQuota}`,
      span: spanOf(second),
    });
  }
}
