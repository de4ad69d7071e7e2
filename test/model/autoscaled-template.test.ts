import { expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { formatHourly } from '../../server/src/cost/money.ts';
import { chartValues } from '../../server/src/model/chart-templates.ts';

// g6e.xlarge in us-east-1: $1.861/h.

const values = (autoscaling: string) => `replicaCount: 2
batch: {replicaCount: 2}
autoscaling: ${autoscaling}
resources: {limits: {nvidia.com/gpu: 1}}
nodeSelector: {node.kubernetes.io/instance-type: g6e.xlarge}
`;

const template = (replicas: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "server.fullname" . }}
spec:
${replicas}
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      nodeSelector:
        {{- toYaml .Values.nodeSelector | nindent 8 }}
      containers:
        - name: server
          image: registry.example.com/server:1
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
`;

const guarded = `  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}`;
const always = '  replicas: {{ .Values.replicaCount }}';
const fixed = '  replicas: 2';

const off = '{enabled: false, minReplicas: 1, maxReplicas: 4}';
const on = '{enabled: true, minReplicas: 1, maxReplicas: 4}';

function hourly(replicas: string, own: string, release?: string): string | undefined {
  const text = template(replicas);
  const analysis = new Analysis({ strict: true });
  const chart = chartValues('values.yaml', values(own));
  const file =
    release === undefined
      ? analysis.setFile('file:///chart/templates/a.yaml', text, 0, undefined, chart && { chart })
      : analysis.setFile('file:///chart/values-prod.yaml', release, 0, undefined, {
          release: {
            values: { uri: 'file:///chart/values.yaml', text: values(own) },
            templates: [{ uri: 'file:///chart/templates/a.yaml', text }],
          },
        });
  const [document] = file.documents;
  const [workload] = document?.costed ?? [];
  const cost = workload && document?.costOf(workload).cost;
  return cost ? `${cost.isOpen ? 'from ' : ''}${formatHourly(cost.hourly)}` : undefined;
}

test('an autoscaler that values turn on sets the replicas of a template', () => {
  for (const replicas of [guarded, always]) {
    expect(hourly(replicas, off)).toBe('$3.72/h');
    expect(hourly(replicas, on)).toBe('$1.86–$7.44/h');
  }
  expect(hourly(guarded, '{enabled: true, minReplicas: 3}')).toBe('from $5.58/h');
});

test('replicas that are not of the same block stay', () => {
  expect(hourly(fixed, on)).toBe('$3.72/h');
  expect(hourly('  replicas: {{ .Values.batch.replicaCount }}', on)).toBe('$3.72/h');
});

test('a release that changes only the autoscaler counts', () => {
  expect(hourly(guarded, off, 'autoscaling: {enabled: true, minReplicas: 3, maxReplicas: 9}\n')).toBe('$5.58–$16.75/h');
  expect(hourly(always, on, 'autoscaling: {maxReplicas: 9}\n')).toBe('$1.86–$16.75/h');
  expect(hourly(always, on, 'ingress: {enabled: true}\n')).toBeUndefined();
});

test('bounds that another template takes from the values are those of the values', () => {
  const named = (text: string) => text.replace('{{ include "server.fullname" . }}', 'server');
  const scaler = `{{- if .Values.autoscaling.enabled }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: server}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: server}
  minReplicas: {{ .Values.autoscaling.min }}
  maxReplicas: {{ .Values.autoscaling.max }}
{{- end }}
`;
  const amount = (own: string, replicas = guarded) => {
    const analysis = new Analysis({ strict: true });
    const chart = chartValues('values.yaml', values(own));
    analysis.setFile('file:///chart/templates/hpa.yaml', scaler);
    const file = analysis.setFile(
      'file:///chart/templates/a.yaml',
      named(template(replicas)),
      0,
      undefined,
      chart && { chart },
    );
    const [document] = file.documents;
    const [workload] = document?.costed ?? [];
    const cost = workload && document?.costOf(workload).cost;
    return cost ? formatHourly(cost.hourly) : undefined;
  };
  expect(amount('{enabled: true, min: 2, max: 6}')).toBe('$3.72–$11.17/h');
  expect(amount('{enabled: false, min: 2, max: 6}')).toBe('$3.72/h');
  // Nothing says which values the bounds are.
  expect(amount('{low: 2, high: 6}')).toBeUndefined();
});

test('an autoscaler starts from no replicas if they are 0 and it has no minimum', () => {
  const none = values('{enabled: true, maxReplicas: 4}').replace('replicaCount: 2', 'replicaCount: 0');
  const chart = chartValues('values.yaml', none);
  const file = new Analysis().setFile(
    'file:///chart/templates/a.yaml',
    template(always),
    0,
    undefined,
    chart && { chart },
  );
  expect(file.documents[0]?.costed[0]?.podSets[0]?.pods).toEqual({ min: 0, max: 4 });
});

test('a comment of the values names the card of the template', () => {
  const model = (own: string) => {
    const chart = chartValues('values.yaml', own);
    const text = template(fixed);
    const file = new Analysis().setFile('file:///chart/templates/a.yaml', text, 0, undefined, chart && { chart });
    return file.documents[0]?.costed[0]?.podSets[0]?.accelerators[0]?.model;
  };
  const own = 'resources: {limits: {nvidia.com/gpu: 1}}\nnodeSelector: {pool: big}\n';
  expect(model(`# Runs on one L40S.\n${own}`)).toBe('l40s');
  expect(model(own)).toBeNull();
  // Of two programs, the template does not tell which one it is.
  const other = 'rank:\n  replicaCount: 1\n  resources: {limits: {nvidia.com/gpu: 1}} # an L4\n';
  expect(model(`resources: {limits: {nvidia.com/gpu: 1}} # an L40S\nnodeSelector: {pool: big}\n${other}`)).toBeNull();
});
