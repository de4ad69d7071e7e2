import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, at, type Cursor, entries, isTemplated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { moveField } from './move-field.ts';
import { defineRule, type RuleContext } from './rule.ts';
import { shorten } from './shorten.ts';

/**
 * A Knative autoscaling annotation that does not do what it says.
 *
 * ## Why
 *
 * Annotations are not checked against a schema. A misspelt key, or one on the Knative Service instead of its template, is kept and ignored:
 * replicas with GPUs run by the defaults. Values must be strings: an unquoted number is refused by the API server.
 *
 * ```yaml invalid
 * apiVersion: serving.knative.dev/v1
 * kind: Service
 * metadata:
 *   name: gpu-server
 * spec:
 *   template:
 *     metadata:
 *       annotations:
 *         autoscaling.knative.dev/min-scale: 0
 *     spec:
 *       containers:
 *         - image: registry.example/server:3.2
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: serving.knative.dev/v1
 * kind: Service
 * metadata:
 *   name: gpu-server
 * spec:
 *   template:
 *     metadata:
 *       annotations:
 *         autoscaling.knative.dev/min-scale: "0"
 *     spec:
 *       containers:
 *         - image: registry.example/server:3.2
 *           resources:
 *             limits:
 *               nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Safe for quotes around a number, without which the object is refused. Unsafe for a misspelt key: it had no effect, and will have one.
 *
 * ## When it is silent
 *
 * For the old spellings (`minScale`), which still work, and for keys that are near none that Knative knows.
 *
 * ## Sources
 *
 * - [Knative: scale bounds](https://knative.dev/docs/serving/autoscaling/scale-bounds/)
 * - [Knative: annotations](https://github.com/knative/serving/blob/main/pkg/apis/autoscaling/register.go)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    const group = groupOf(manifest.apiVersion);
    if (group !== 'serving.knative.dev' && group !== 'serving.kserve.io') return;
    const onObject = at(manifest.root, 'metadata', 'annotations');
    const places = [
      onObject,
      at(manifest.root, 'spec', 'template', 'metadata', 'annotations'),
      at(manifest.root, 'spec', 'predictor', 'annotations'),
    ];
    for (const place of places) checkAll(place, context);
    if (group === 'serving.knative.dev' && manifest.kind === 'Service') checkLevel(onObject, manifest, context);
  },
});

const prefix = 'autoscaling.knative.dev/';

/** Dashed names; the old spellings in camel case work as well. */
const known: readonly string[] = [
  'min-scale',
  'max-scale',
  'initial-scale',
  'activation-scale',
  'target',
  'target-burst-capacity',
  'target-utilization-percentage',
  'metric',
  'metric-aggregation-algorithm',
  'class',
  'window',
  'panic-window-percentage',
  'panic-threshold-percentage',
  'scale-down-delay',
  'scale-to-zero-pod-retention-period',
];

function checkAll(annotations: Cursor | undefined, context: RuleContext): void {
  const ours = entries(annotations).filter((entry) => keyOf(entry).startsWith(prefix));
  for (const entry of ours) {
    checkValue(entry, context);
    checkName(entry, context);
  }
  const bound = (which: string) => ours.find((entry) => dashed(keyOf(entry).slice(prefix.length)) === `${which}-scale`);
  const min = bound('min');
  const max = bound('max');
  const floor = Number(asText(min));
  const ceiling = Number(asText(max));
  // 0 means that there is no ceiling.
  if (min === undefined || max === undefined || !(floor > ceiling) || ceiling === 0) return;
  context.report({
    severity: 'error',
    message: `min-scale ${floor} is above max-scale ${ceiling}: the object is refused`,
    span: spanOf(min),
  });
}

function checkValue(entry: Cursor, { document, report }: RuleContext): void {
  const { node } = entry;
  if (
    node.kind !== 'scalar' ||
    isTemplated(entry) ||
    (typeof node.value !== 'number' && typeof node.value !== 'boolean')
  )
    return;
  report({
    severity: 'error',
    message: `${keyOf(entry)} is the ${typeof node.value} ${shorten(node.source, 20)}, not a string: the API server refuses it without quotes`,
    span: spanOf(entry),
    fixes: () => {
      const edits = entry.shared ? undefined : replaceScalar(document, entry, node.source);
      return [edits && { title: `Quote it: "${node.source}"`, safe: !document.template, edits }];
    },
  });
}

function checkName(entry: Cursor, { document, report }: RuleContext): void {
  const name = keyOf(entry).slice(prefix.length);
  if (known.includes(dashed(name))) return;
  const letters = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  const synonyms = letters(name).replace('replicas', 'scale').replace('minimum', 'min').replace('maximum', 'max');
  const meant = known.find((right) => letters(right) === synonyms || `${letters(right)}s` === synonyms);
  if (meant === undefined) return;
  report({
    message: `Knative knows no ${keyOf(entry)} (it is ${meant}): the annotation is ignored`,
    span: keySpanOf(entry),
    fixes: () => {
      const edits = entry.shared ? undefined : renameKey(document, entry, `${prefix}${meant}`);
      return [edits && { title: `Rename to ${prefix}${meant}`, safe: false, edits }];
    },
  });
}

function checkLevel(onObject: Cursor | undefined, { root }: Manifest, { document, report }: RuleContext): void {
  const template = at(root, 'spec', 'template', 'metadata', 'annotations');
  for (const entry of entries(onObject)) {
    const key = keyOf(entry);
    if (!key.startsWith(prefix) || at(template, key) !== undefined) continue;
    report({
      message: `${key} stands on the Service, where Knative ignores it: it belongs on spec.template.metadata`,
      span: keySpanOf(entry),
      fixes: () => {
        const owner = at(root, 'spec', 'template');
        return [
          owner && moveField(document, entry, owner, ['metadata', 'annotations', key], 'Move it to the template'),
        ];
      },
    });
  }
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
