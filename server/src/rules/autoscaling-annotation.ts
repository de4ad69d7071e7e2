import { nearest } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { hoursIn } from '../evidence/go-duration.ts';
import { knativeMetric } from '../evidence/knative-metric.ts';
import { writtenText } from '../evidence/written.ts';
import { countIn } from '../model/count.ts';
import { groupOf, lookUp } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { moveField } from '../rewrite/move-field.ts';
import {
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isTemplated,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * An autoscaling annotation that Knative rejects or ignores, or a deploymentMode or a canary that KServe rejects or ignores.
 *
 * ## Why
 *
 * Annotations have no schema. Knative ignores a misspelled key, and replicas with GPUs scale by the defaults. Knative's webhook rejects
 * these annotations on the Knative Service itself, whatever its template contains. Values must be strings: the API server rejects an
 * unquoted number. Knative's own autoscaler measures requests: for CPU and memory, the class must be that of the HPA, which cannot scale to
 * zero. KServe runs an InferenceService without Knative if its deploymentMode is Standard or RawDeployment: none of these
 * annotations has an effect then, and neither has `canaryTrafficPercent`, because Knative divides the requests.
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
 * Quotes around a value are safe: without them the object is rejected. A new name for a misspelled key is unsafe: the annotation takes
 * effect for the first time. Moving a key to the template is unsafe, and not offered if the template already has it in either spelling.
 *
 * ## When it is silent
 *
 * For the old spellings (`minScale`), which still work, and for keys that do not resemble a Knative key.
 *
 * ## Sources
 *
 * - [KServe: deployment modes](https://kserve.github.io/website/docs/concepts/architecture/control-plane)
 * - [Knative: scale bounds](https://knative.dev/docs/serving/autoscaling/scale-bounds/)
 * - [Knative: annotations](https://github.com/knative/serving/blob/main/pkg/apis/autoscaling/register.go)
 * - [Knative: bounds of annotations](https://github.com/knative/serving/blob/main/pkg/apis/autoscaling/annotation_validation.go)
 * - [knative/serving#9358: rejected on the Service since 0.18](https://github.com/knative/serving/pull/9358)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'warning',
  manifest(manifest, context) {
    const group = groupOf(manifest.apiVersion);
    if (group !== 'serving.knative.dev' && group !== 'serving.kserve.io') return;
    const onObject = getIn(manifest.root, 'metadata', 'annotations');
    checkMode(getIn(onObject, 'serving.kserve.io/deploymentMode'), context);
    if (isWithoutKnative(manifest)) {
      checkUnused([onObject, getIn(manifest.root, 'spec', 'predictor', 'annotations')], manifest, context);
      checkCanary(getIn(manifest.root, 'spec', 'predictor', 'canaryTrafficPercent'), context);
      return;
    }
    const rejected = group === 'serving.knative.dev' && /^(Service|Configuration)$/.test(manifest.kind);
    checkAll(onObject, context, rejected);
    checkAll(getIn(manifest.root, 'spec', 'template', 'metadata', 'annotations'), context);
    checkAll(getIn(manifest.root, 'spec', 'predictor', 'annotations'), context);
    checkMetric(manifest, context);
    if (rejected) checkLevel(onObject, manifest, context);
  },
});

const modes = ['RawDeployment', 'Serverless', 'ModelMesh', 'Standard', 'Knative'];

/** https://github.com/kserve/kserve/blob/master/pkg/controller/v1beta1/inferenceservice/utils/utils.go */
function checkMode(at: Cursor | undefined, { document, report }: RuleContext): void {
  const mode = writtenText(at);
  if (at === undefined || mode === undefined || modes.includes(mode)) return;
  const written = mode.toLowerCase();
  const meant = modes.find((one) => one.toLowerCase().startsWith(written)) ?? nearest(mode, modes)[0];
  report({
    message: `KServe has no deploymentMode ${shorten(mode, 30)} and uses its default${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    span: spanOf(at),
    fixes: () => (meant === undefined ? [] : [fix(`Use ${meant}`, 'unsafe', replaceScalar(document, at, meant))]),
  });
}

/** Whether KServe runs an InferenceService as a Deployment. Before KServe 0.16, the mode Standard was named RawDeployment. */
function isWithoutKnative({ kind, annotations }: Manifest): boolean {
  const mode = lookUp(annotations, 'serving.kserve.io/deploymentMode')?.value;
  return kind === 'InferenceService' && (mode === 'RawDeployment' || mode === 'Standard');
}

/** Reports the annotations of a service without Knative once: a warning if they were to change its number of pods. */
function checkUnused(places: readonly (Cursor | undefined)[], { root }: Manifest, context: RuleContext): void {
  const own = places.flatMap((one) => entries(one)).filter((entry) => keyOf(entry).startsWith(prefix));
  for (const entry of own) checkValue(entry, context);
  const bounds = own.filter((entry) => /^(?:min|max)-scale$/.test(dashed(keyOf(entry).slice(prefix.length))));
  const [first = own[0]] = bounds;
  if (first === undefined) return;
  const predictor = getIn(root, 'spec', 'predictor');
  const isBounded = getIn(predictor, 'minReplicas') !== undefined || getIn(predictor, 'maxReplicas') !== undefined;
  const changes = !isBounded && bounds.some((entry) => asText(entry) !== '1');
  context.report({
    severity: changes ? 'warning' : 'info',
    message: `${keyOf(first)} has no effect without Knative (deploymentMode); ${bounds.length > 0 ? "KServe's bounds are minReplicas and maxReplicas" : "KServe's HPA uses scaleMetric and scaleTarget"}`,
    span: keySpanOf(first),
  });
}

/** Reports a share of the traffic, which only Knative can divide. https://kserve.github.io/website/docs/model-serving/predictive-inference/rollout-strategies/canary */
function checkCanary(at: Cursor | undefined, { report }: RuleContext): void {
  const percent = asNumber(at);
  if (at === undefined || percent === undefined || percent >= 100) return;
  report({
    message: `canaryTrafficPercent ${percent} has no effect without Knative (deploymentMode): the new version replaces the old one and gets all requests`,
    span: keySpanOf(at),
  });
}

const prefix = 'autoscaling.knative.dev/';

/** Dashed names. The old spellings in camel case also work. */
const knownNames: readonly string[] = [
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

/** @param rejected whether Knative rejects these annotations under any name: misspellings do not matter then */
function checkAll(annotations: Cursor | undefined, context: RuleContext, rejected = false): void {
  const own = entries(annotations).filter((entry) => keyOf(entry).startsWith(prefix));
  for (const entry of own) {
    checkValue(entry, context);
    checkForm(entry, context);
    if (!rejected) checkName(entry, context);
  }
  const bound = (which: string) => own.find((entry) => dashed(keyOf(entry).slice(prefix.length)) === `${which}-scale`);
  const min = bound('min');
  const max = bound('max');
  const floor = countIn(asText(min));
  const ceiling = countIn(asText(max));
  // A max-scale of 0 means no maximum.
  if (min === undefined || floor === null || ceiling === null || floor <= ceiling || ceiling === 0) return;
  context.report({
    severity: 'error',
    message: `min-scale ${floor} is above max-scale ${ceiling}: Knative rejects these bounds`,
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
    message: `${keyOf(entry)} must be a string, not the ${typeof node.value} ${shorten(node.source, 20)}: the API server rejects the object`,
    span: spanOf(entry),
    fixes: () => [fix(`Quote the value: "${node.source}"`, 'safe', replaceScalar(document, entry, node.source))],
  });
}

/** Reports a duration without a unit or out of bounds, and a share in place of a percentage. */
function checkForm(entry: Cursor, { document, report }: RuleContext): void {
  const name = dashed(keyOf(entry).slice(prefix.length));
  const text = isTemplated(entry) ? undefined : asText(entry)?.trim();
  // A percent sign alone is also that of a placeholder.
  const value = text !== undefined && /^\d+%$/.test(text) ? text : writtenText(entry)?.trim();
  if (value === undefined) return;
  if (name === 'initial-scale' && value === '0') {
    report({
      message: 'Knative rejects initial-scale 0, unless config-autoscaler has allow-zero-initial-scale',
      span: spanOf(entry),
    });
    return;
  }
  if (name === 'class' && /^[kh]pa$/i.test(value)) {
    const meant = `${value.toLowerCase()}.autoscaling.knative.dev`;
    report({
      message: `Knative has no autoscaler class ${value}, so nothing scales the pods; did you mean ${meant}?`,
      span: spanOf(entry),
      fixes: () => [fix(`Use ${meant}`, 'unsafe', replaceScalar(document, entry, meant))],
    });
    return;
  }
  const mustBe = formOf(name, value);
  if (mustBe === undefined) return;
  report({
    severity: 'error',
    message: `${name} must be ${mustBe}, not ${shorten(value, 20)}: Knative rejects the service`,
    span: spanOf(entry),
  });
}

/** What the value of an annotation must be; undefined if it may be right. */
function formOf(name: string, value: string): string | undefined {
  const isNumber = /^\d+(?:\.\d+)?$/.test(value);
  if (bounds.has(name) && /^-?\d/.test(value) && !/^\d+$/.test(value)) return 'a whole number of at least 0';
  if (name === 'target' && (isNumber ? Number(value) < 0.01 : /^-?\d/.test(value))) return 'a number of at least 0.01';
  if (percentages.has(name) && /^-?\d/.test(value) && !isNumber) return 'a number without %';
  const [least, most] = percentages.get(name) ?? [0, Number.POSITIVE_INFINITY];
  if (isNumber && (Number(value) < least || Number(value) > most)) return `a percentage from ${least} to ${most}`;
  const shortest = durations.get(name);
  if (shortest === undefined || (isNumber && Number(value) === 0 && shortest === 0)) return undefined;
  if (isNumber) return `a duration such as ${value}s`;
  const seconds = Math.round(hoursIn(value) * 3600);
  const isWhole = /^(?:\d{1,9}[hms])+$/.test(value);
  return isWhole && (seconds < shortest || seconds > 3600) ? `from ${shortest}s to 1h` : undefined;
}

const bounds = wordSet('min-scale max-scale initial-scale');

/** The shortest durations in seconds. The longest is an hour. */
const durations: ReadonlyMap<string, number> = new Map([
  ['window', 6],
  ['scale-down-delay', 0],
  ['scale-to-zero-pod-retention-period', 0],
]);

const percentages: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['target-utilization-percentage', [1, 100]],
  ['panic-window-percentage', [1, 100]],
  ['panic-threshold-percentage', [110, 1000]],
]);

/** Keys of the ConfigMap config-autoscaler without an annotation. https://knative.dev/docs/serving/autoscaling/scale-to-zero/ */
const ofCluster: ReadonlySet<string> = new Set(['scale-to-zero-grace-period', 'enable-scale-to-zero']);

function checkName(entry: Cursor, { document, report }: RuleContext): void {
  const name = keyOf(entry).slice(prefix.length);
  if (ofCluster.has(dashed(name))) {
    report({
      message: `${keyOf(entry)} has no effect: it is a setting of the cluster (config-autoscaler), not an annotation`,
      span: keySpanOf(entry),
    });
    return;
  }
  const intended = intendedName(name);
  if (intended === undefined) return;
  report({
    message: `Knative has no annotation ${keyOf(entry)} and ignores it; the name is ${intended}`,
    span: keySpanOf(entry),
    fixes: () => [fix(`Rename to ${prefix}${intended}`, 'unsafe', renameKey(document, entry, `${prefix}${intended}`))],
  });
}

/** The correct name of a misspelled annotation. */
function intendedName(name: string): string | undefined {
  if (knownNames.includes(dashed(name))) return undefined;
  const letters = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');
  const synonyms = letters(name).replace('replicas', 'scale').replace('minimum', 'min').replace('maximum', 'max');
  return knownNames.find((right) => letters(right) === synonyms || `${letters(right)}s` === synonyms);
}

/** https://github.com/knative/serving/blob/main/pkg/apis/autoscaling/annotation_validation.go */
function checkMetric(manifest: Manifest, { report }: RuleContext): void {
  const found = knativeMetric(manifest);
  if (found?.scaler !== 'kpa') return;
  report({
    message: `Knative's own autoscaler rejects the metric ${asText(found.at)}: set ${prefix}class to hpa.autoscaling.knative.dev`,
    span: spanOf(found.at),
  });
}

function checkLevel(onObject: Cursor | undefined, { root, kind }: Manifest, { document, report }: RuleContext): void {
  const inTemplate = entries(getIn(root, 'spec', 'template', 'metadata', 'annotations')).map((entry) =>
    dashed(keyOf(entry)),
  );
  for (const entry of entries(onObject)) {
    const key = keyOf(entry);
    if (!key.startsWith(prefix)) continue;
    report({
      severity: 'error',
      message: `${key} belongs under spec.template.metadata, not on the ${kind}: Knative rejects the object`,
      span: keySpanOf(entry),
      fixes: () => {
        const intended = intendedName(key.slice(prefix.length));
        const name = intended === undefined ? key : `${prefix}${intended}`;
        // The intended value is unknown if the template has another one.
        if (inTemplate.includes(dashed(name))) return [];
        const owner = getIn(root, 'spec', 'template');
        const title = `Move the annotation to the template${intended === undefined ? '' : ` as ${name}`}`;
        return [owner && moveField(document, entry, owner, ['metadata', 'annotations', name], title)];
      },
    });
  }
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
