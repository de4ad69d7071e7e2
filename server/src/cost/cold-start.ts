/** The delays with which an autoscaler removes the last replica and adds the next one. */
export interface ColdStart {
  readonly scaler: 'knative' | 'keda';
  /** How long the last replica stays without requests (Knative) or without an active trigger (KEDA). */
  readonly scaleDown: Delay;
  /** Knative: the deadline for a replica to become ready. KEDA: the polling interval of its triggers. */
  readonly scaleUp: Delay;
}

/** A time from an annotation or a field, or the autoscaler's default. */
export interface Delay {
  readonly key: string;
  /** As written, with a unit if the autoscaler requires one: `90s`, `300`. */
  readonly value: string;
  readonly from: 'manifest' | 'default';
}

/**
 * Defaults as of November 2026. knative/serving, config/core/configmaps/autoscaler.yaml (stable-window 60s) and deployment.yaml
 * (progress-deadline 600s); knative.dev/docs/serving, "Configuring scale to zero" and "Configure Deployment resources" (the annotations);
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
 * The delays of scaling to zero and back. The time for a node, an image and a model is unknown.
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
