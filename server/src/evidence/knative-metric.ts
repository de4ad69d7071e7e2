import { wordSet } from '../catalog/word-patterns.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';
import { isUnknown } from './written.ts';

/** The metric on which Knative is to scale the pods of a Service or an InferenceService. `other`: neither a resource nor one of its own. */
export interface KnativeMetric {
  readonly metric: 'CPU' | 'memory' | 'other';
  readonly at: Cursor;
  /** The class of the autoscaler: Knative's own if none is named. */
  readonly scaler: 'kpa' | 'hpa' | 'other';
}

const prefix = 'autoscaling.knative.dev/';

/** Undefined for Knative's own metrics, and for an InferenceService that Knative may not run. https://knative.dev/docs/serving/autoscaling/autoscaling-metrics/ */
export function knativeMetric({ root, kind, apiVersion }: Manifest): KnativeMetric | undefined {
  const group = groupOf(apiVersion);
  if (group === 'serving.knative.dev' && kind === 'Service')
    return metricIn(entries(getIn(root, 'spec', 'template', 'metadata', 'annotations')));
  if (group !== 'serving.kserve.io' || kind !== 'InferenceService') return undefined;
  const own = [
    ...entries(getIn(root, 'metadata', 'annotations')),
    ...entries(getIn(root, 'spec', 'predictor', 'annotations')),
  ];
  const mode = asText(own.find((entry) => keyOf(entry) === 'serving.kserve.io/deploymentMode'));
  const isKnative = mode === undefined ? own.some(isKnativeOnly) : mode === 'Knative' || mode === 'Serverless';
  return isKnative ? metricIn(own) : undefined;
}

function metricIn(annotations: readonly Cursor[]): KnativeMetric | undefined {
  const at = annotations.find((entry) => keyOf(entry) === `${prefix}metric`);
  const text = asText(at);
  if (at === undefined || isUnknown(at) || text === undefined || text === '' || own.has(text)) return undefined;
  const named = annotations.find((entry) => keyOf(entry) === `${prefix}class`);
  const [scaler] = (asText(named) ?? 'kpa').split('.');
  const isKnown = named === undefined || !isTemplated(named);
  return {
    metric: text === 'cpu' ? 'CPU' : text === 'memory' ? text : 'other',
    at,
    scaler: isKnown && (scaler === 'kpa' || scaler === 'hpa') ? scaler : 'other',
  };
}

const own = wordSet('concurrency rps');

/** People also set the metric, the target and the class where Knative does not run. */
function isKnativeOnly(entry: Cursor): boolean {
  const key = keyOf(entry);
  return key.startsWith(prefix) && !/\/(?:metric|target|class)$/.test(key);
}
