/** How a scaler takes the last replica away, and how it brings the next one. */
export interface ColdStart {
  readonly scaler: 'knative' | 'keda';
  /** How long the last replica stays without requests (Knative), or without an active trigger (KEDA). */
  readonly scaleDown: Delay;
  /** Knative: when a replica that is not ready has failed. KEDA: how often it looks for work. */
  readonly scaleUp: Delay;
}

/** A time that an annotation or a field sets, or the scaler's default. */
export interface Delay {
  readonly key: string;
  /** As written, with a unit where the scaler wants one: `90s`, `300`. */
  readonly value: string;
  readonly from: 'manifest' | 'default';
}

/**
 * The defaults, read in November 2026. knative/serving, config/core/configmaps/autoscaler.yaml (stable-window 60s) and deployment.yaml
 * (progress-deadline 600s); knative.dev/docs/serving, «Configuring scale to zero» and «Configure Deployment resources» (the annotations);
 * keda.sh/docs/2.17, ScaledObject specification (pollingInterval 30, cooldownPeriod 300).
 */
const defaults = {
  knative: {
    scaleDown: { key: 'autoscaling.knative.dev/window', value: '60 s' },
    scaleUp: { key: 'serving.knative.dev/progress-deadline', value: '600 s' },
  },
  keda: {
    scaleDown: { key: 'cooldownPeriod', value: '300' },
    scaleUp: { key: 'pollingInterval', value: '30' },
  },
} as const;

/**
 * How long going to zero and coming back takes. How long a node, an image and a model take is unknown.
 * @param written the value of an annotation (Knative) or a field of the ScaledObject's spec (KEDA)
 */
export function coldStart(scaler: ColdStart['scaler'], written: (key: string) => string | undefined): ColdStart {
  const delay = ({ key, value }: { readonly key: string; readonly value: string }): Delay => {
    const set = written(key);
    return set === undefined ? { key, value, from: 'default' } : { key, value: set, from: 'manifest' };
  };
  const { scaleDown, scaleUp } = defaults[scaler];
  return { scaler, scaleDown: delay(scaleDown), scaleUp: delay(scaleUp) };
}
