import { countIn } from '../model/count.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { moveField } from '../rewrite/move-field.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A Knative autoscaling annotation that does not do what it says.
 *
 * ## Why
 *
 * Annotations are not checked against a schema. A misspelt key is kept and ignored: replicas with GPUs run by the defaults. One on the
 * Knative Service instead of its template is refused by Knative's webhook, whatever the template says. Values must be strings: an unquoted
 * number is refused by the API server.
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
 * Safe for quotes around a number, without which the object is refused. Unsafe for a misspelt key: it had no effect, and will have one; and
 * for a key that moves to the template, which is not offered where the template has it already, in either spelling.
 *
 * ## When it is silent
 *
 * For the old spellings (`minScale`), which still work, and for keys that are near none that Knative knows.
 *
 * ## Sources
 *
 * - [Knative: scale bounds](https://knative.dev/docs/serving/autoscaling/scale-bounds/)
 * - [Knative: annotations](https://github.com/knative/serving/blob/main/pkg/apis/autoscaling/register.go)
 * - [knative/serving#9358: refused on the Service since 0.18](https://github.com/knative/serving/pull/9358)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    const group = groupOf(manifest.apiVersion);
    if (group !== 'serving.knative.dev' && group !== 'serving.kserve.io') return;
    const onObject = getIn(manifest.root, 'metadata', 'annotations');
    const refused = group === 'serving.knative.dev' && /^(Service|Configuration)$/.test(manifest.kind);
    checkAll(onObject, context, refused);
    checkAll(getIn(manifest.root, 'spec', 'template', 'metadata', 'annotations'), context);
    checkAll(getIn(manifest.root, 'spec', 'predictor', 'annotations'), context);
    if (refused) checkLevel(onObject, manifest, context);
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

/** @param refused whatever they are called: then a misspelt name is not what matters */
function checkAll(annotations: Cursor | undefined, context: RuleContext, refused = false): void {
  const ours = entries(annotations).filter((entry) => keyOf(entry).startsWith(prefix));
  for (const entry of ours) {
    checkValue(entry, context);
    if (!refused) checkName(entry, context);
  }
  const bound = (which: string) => ours.find((entry) => dashed(keyOf(entry).slice(prefix.length)) === `${which}-scale`);
  const min = bound('min');
  const max = bound('max');
  const floor = countIn(asText(min));
  const ceiling = countIn(asText(max));
  // 0 means that there is no ceiling.
  if (min === undefined || floor === null || ceiling === null || floor <= ceiling || ceiling === 0) return;
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
    fixes: () => [fix(`Quote it: "${node.source}"`, 'safe', replaceScalar(document, entry, node.source))],
  });
}

function checkName(entry: Cursor, { document, report }: RuleContext): void {
  const meant = meantName(keyOf(entry).slice(prefix.length));
  if (meant === undefined) return;
  report({
    message: `Knative knows no ${keyOf(entry)} (it is ${meant}): the annotation is ignored`,
    span: keySpanOf(entry),
    fixes: () => [fix(`Rename to ${prefix}${meant}`, 'unsafe', renameKey(document, entry, `${prefix}${meant}`))],
  });
}

/** The name that a misspelt one was meant to be. */
function meantName(name: string): string | undefined {
  if (known.includes(dashed(name))) return undefined;
  const letters = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  const synonyms = letters(name).replace('replicas', 'scale').replace('minimum', 'min').replace('maximum', 'max');
  return known.find((right) => letters(right) === synonyms || `${letters(right)}s` === synonyms);
}

function checkLevel(onObject: Cursor | undefined, { root, kind }: Manifest, { document, report }: RuleContext): void {
  const there = entries(getIn(root, 'spec', 'template', 'metadata', 'annotations')).map((entry) =>
    dashed(keyOf(entry)),
  );
  for (const entry of entries(onObject)) {
    const key = keyOf(entry);
    if (!key.startsWith(prefix)) continue;
    report({
      severity: 'error',
      message: `${key} stands on the ${kind}, which Knative refuses: it belongs on spec.template.metadata`,
      span: keySpanOf(entry),
      fixes: () => {
        const meant = meantName(key.slice(prefix.length));
        const name = meant === undefined ? key : `${prefix}${meant}`;
        // Which of two values is meant nobody knows.
        if (there.includes(dashed(name))) return [];
        const owner = getIn(root, 'spec', 'template');
        const title = `Move it to the template${meant === undefined ? '' : ` as ${name}`}`;
        return [owner && moveField(document, entry, owner, ['metadata', 'annotations', name], title)];
      },
    });
  }
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
