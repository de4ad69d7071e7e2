import { isSet, isUnknown, writtenNumber, writtenText } from '../evidence/written.ts';
import { kindOf } from '../model/kinds/index.ts';
import { lookUp } from '../model/manifest.ts';
import { parseQuantity } from '../model/quantity.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, items, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A metric of a HorizontalPodAutoscaler is rejected: its own, or that of an InferenceService, job or chart that creates one.
 *
 * ## Why
 *
 * A metric of type `Resource` is described under `resource`, one of type `Pods` under `pods`, and so on, and by nothing else. Its target is one
 * number: a utilization or an average value for a resource, an average value for pods, a value or an average value for the others.
 *
 * KServe creates an HPA for an InferenceService in Standard mode (RawDeployment before KServe 0.16). Its webhook accepts only cpu and memory as the
 * `scaleMetric` then: `concurrency` and `rps` are metrics of Knative.
 *
 * ```yaml invalid
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef:
 *     apiVersion: apps/v1
 *     kind: Deployment
 *     name: chat
 *   maxReplicas: 4
 *   metrics:
 *     - type: Pods
 *       pods:
 *         metric:
 *           name: vllm:num_requests_waiting
 *         target:
 *           type: Value
 *           value: 10
 * ```
 *
 * ```yaml valid
 * apiVersion: autoscaling/v2
 * kind: HorizontalPodAutoscaler
 * metadata:
 *   name: chat
 * spec:
 *   scaleTargetRef:
 *     apiVersion: apps/v1
 *     kind: Deployment
 *     name: chat
 *   maxReplicas: 4
 *   metrics:
 *     - type: Pods
 *       pods:
 *         metric:
 *           name: vllm:num_requests_waiting
 *         target:
 *           type: AverageValue
 *           averageValue: 10
 * ```
 *
 * Metrics in the values of a chart are only information, since the chart may give them another shape.
 *
 * ## When it is silent
 *
 * For templates, and for the shapes of v2beta1, which Kubernetes no longer serves. For an InferenceService with another autoscaler, or if no annotation
 * sets its mode.
 *
 * ## Sources
 *
 * - [Kubernetes: HorizontalPodAutoscaler v2](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/)
 * - [Kubernetes: validation of autoscalers](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/autoscaling/validation/validation.go)
 * - [KServe: validation of an InferenceService](https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/inference_service_validation.go)
 */
export default defineRule({
  topic: 'autoscaling',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind, apiVersion, annotations }, context) {
    if (kind === 'InferenceService' && hasHpa(annotations)) checkScaleMetrics(root, context);
    // The branches of a template may be alternatives.
    if (kind !== 'HorizontalPodAutoscaler' || apiVersion !== 'autoscaling/v2' || context.document.template) return;
    for (const metric of items(getIn(root, 'spec', 'metrics'))) checkMetric(metric, context);
    const behavior = getIn(root, 'spec', 'behavior');
    for (const direction of entries(behavior)) {
      const policies = getIn(direction, 'policies');
      if (policies?.node.kind !== 'seq' || items(policies).length > 0 || isIncomplete(policies)) continue;
      context.report({
        message: `${keyOf(direction)} needs at least one policy: ${rejection}`,
        span: keySpanOf(policies),
      });
    }
  },
  workload(workload, context) {
    const { partial, manifest } = workload;
    const { elasticPolicy } = kindOf(workload);
    const policy = context.document.template ? undefined : elasticPolicy?.(manifest.root);
    // A chart mostly copies such a list into its HPA.
    const blocks = partial ? scalingBlocks(manifest.root) : policy === undefined ? [] : [policy];
    const report: RuleContext['report'] = (one) => {
      context.report({ ...one, ...(partial && { severity: 'info' }) });
    };
    for (const metric of blocks.flatMap((block) => items(getIn(block, 'metrics')))) {
      // Other fields are those of the chart.
      if (isUnknown(getIn(metric, 'type')) || !fields.some((field) => getIn(metric, field) !== undefined)) continue;
      checkMetric(metric, { report });
      checkPlace(metric, report);
    }
  },
});

/** The blocks of chart values for an autoscaler, also in the part for the server. */
function scalingBlocks(root: Cursor): readonly Cursor[] {
  return [...entries(root), ...entries(root).flatMap(entries)].filter((block) =>
    /^(?:autoscal(?:e|ing|er)|hpa|horizontalPodAutoscaler)$/i.test(keyOf(block)),
  );
}

/** Reports a target inside the description of its metric. The fields of Kubernetes' own kinds are checked elsewhere. */
function checkPlace(metric: Cursor, report: RuleContext['report']): void {
  const [field] = shapes[writtenText(getIn(metric, 'type')) ?? ''] ?? [];
  const own = field === undefined ? undefined : getIn(metric, field);
  const target = getIn(own, 'metric', 'target');
  if (field === undefined || own === undefined || target === undefined || isIncomplete(own)) return;
  if (getIn(own, 'target') !== undefined) return;
  report({
    message: `target belongs in ${field}, not in metric: the API server rejects the autoscaler`,
    span: keySpanOf(target),
  });
}

const rejection = 'the API server rejects the object';

/** Whether KServe scales an InferenceService with an HPA. */
function hasHpa(annotations: Manifest['annotations']): boolean {
  const [mode, scaler] = ['deploymentMode', 'autoscalerClass'].map(
    (name) => lookUp(annotations, `serving.kserve.io/${name}`)?.value,
  );
  return (mode === 'RawDeployment' || mode === 'Standard') && (scaler ?? 'hpa') === 'hpa';
}

function checkScaleMetrics(root: Cursor, { report }: RuleContext): void {
  for (const component of entries(getIn(root, 'spec'))) {
    const metric = getIn(component, 'scaleMetric');
    const name = writtenText(metric);
    if (metric === undefined || (name !== 'concurrency' && name !== 'rps')) continue;
    report({
      message: `KServe's webhook rejects scaleMetric ${name} in Standard mode: its HPA scales on cpu or memory`,
      span: spanOf(metric),
    });
  }
}

/** The field of each type, and the targets that it allows. */
const shapes = table<readonly [field: string, ...targets: string[]]>({
  Resource: ['resource', 'averageUtilization', 'averageValue'],
  ContainerResource: ['containerResource', 'averageUtilization', 'averageValue'],
  Pods: ['pods', 'averageValue'],
  Object: ['object', 'value', 'averageValue'],
  External: ['external', 'value', 'averageValue'],
});
const fields = ['resource', 'containerResource', 'pods', 'object', 'external'];

function checkMetric(metric: Cursor, { report }: Pick<RuleContext, 'report'>): void {
  const at = getIn(metric, 'type');
  const type = writtenText(at);
  const [field, ...targets] = (type === undefined ? undefined : shapes[type]) ?? [];
  if (at === undefined || type === undefined || field === undefined || isIncomplete(metric)) return;
  const set = entries(metric).filter((entry) => fields.includes(keyOf(entry)) && isSet(entry));
  const own = set.find((entry) => keyOf(entry) === field);
  const other = set.find((entry) => keyOf(entry) !== field);
  if (own === undefined) {
    const instead = other === undefined ? '' : `, not ${keyOf(other)}`;
    report({ message: `A metric of type ${type} needs ${field}${instead}: ${rejection}`, span: spanOf(at) });
    return;
  }
  if (other !== undefined) {
    report({
      message: `A metric of type ${type} must have only ${field}, not ${keyOf(other)}: ${rejection}`,
      span: keySpanOf(other),
    });
  }
  const target = getIn(own, 'target');
  if (target?.node.kind !== 'map' || isIncomplete(target)) return;
  checkTarget(target, type, targets, report);
}

function checkTarget(target: Cursor, type: string, allowed: readonly string[], report: RuleContext['report']): void {
  const values = entries(target).filter(
    (entry) => /^(value|averageValue|averageUtilization)$/.test(keyOf(entry)) && isSet(entry),
  );
  const own = values.filter((entry) => allowed.includes(keyOf(entry)));
  const [first, second] = own;
  if (first === undefined) {
    const instead = values[0] === undefined ? '' : `, not ${keyOf(values[0])}`;
    report({
      message: `The target of a metric of type ${type} needs ${allowed.join(' or ')}${instead}: ${rejection}`,
      span: keySpanOf(values[0] ?? target),
    });
  } else if (second !== undefined && type !== 'Object') {
    report({
      message: `The target must not have both ${keyOf(first)} and ${keyOf(second)}: ${rejection}`,
      span: keySpanOf(second),
    });
  }
  for (const value of values) {
    const number = keyOf(value) === 'averageUtilization' ? writtenNumber(value) : parseQuantity(asText(value) ?? '');
    if (isUnknown(value) || number === undefined || number === null || number > 0) continue;
    report({ message: `${keyOf(value)} must be greater than 0: ${rejection}`, span: spanOf(value) });
  }
}
