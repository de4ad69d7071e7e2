import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { parseConfig } from '../../server/src/config.ts';
import { costWords } from '../../server/src/features/code-lens.ts';
import { runsPerMonth } from '../../server/src/model/cron.ts';

// g5.12xlarge costs $5.672/h, on spot $2.4575/h.

function lensOf(text: string, config = ''): string {
  const analysis = new Analysis({ strict: true });
  analysis.setConfig(parseConfig(config).config);
  const [document] = analysis.setFile('file:///job.yaml', text).documents;
  const [workload] = document?.costed ?? [];
  return document === undefined || workload === undefined
    ? ''
    : costWords(workload, document.costOf(workload), document.rangeOf(workload));
}

const pod = (indent: number, command = '[python, train.py]') =>
  `
nodeSelector: {node.kubernetes.io/instance-type: g5.12xlarge}
restartPolicy: Never
containers:
  - name: main
    image: registry.example.com/train:1
    command: ${command}
    resources: {limits: {nvidia.com/gpu: 4}}`.replaceAll('\n', `\n${' '.repeat(indent)}`);

const job = (fields: string, command?: string) => `apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  ${fields}
  template:
    spec:${pod(6, command)}
`;

const cronJob = (schedule: string, fields: string) => `apiVersion: batch/v1
kind: CronJob
metadata: {name: train}
spec:
  schedule: ${schedule}
  jobTemplate:
    spec:
      ${fields}
      template:
        spec:${pod(10)}
`;

describe('the cost of a run', () => {
  test('a deadline bounds the total', () => {
    expect(lensOf(job('activeDeadlineSeconds: 7200'))).toBe('$5.67/h on demand · $2.46/h spot · at most $11.34 in 2 h');
  });

  test('the most is one amount, also if machines of several prices can run a job', () => {
    const either = job('activeDeadlineSeconds: 7200').replace(
      'nodeSelector: {node.kubernetes.io/instance-type: g5.12xlarge}',
      'affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In, values: [g5.12xlarge, g5.24xlarge]}]}]}}}',
    );
    // 2 × 8.144.
    expect(lensOf(either)).toMatch(/^\$5\.67–\$8\.14\/h on demand · .* · at most \$16\.29 in 2 h$/);
  });

  test('a ScaledJob creates jobs whenever there is work, so the deadline of one bounds nothing', () => {
    const text = `apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata: {name: train}
spec:
  maxReplicaCount: 3
  jobTargetRef:
    activeDeadlineSeconds: 600
    template:
      spec:${pod(8)}
  triggers: [{type: aws-sqs-queue, metadata: {queueURL: "https://sqs.us-east-1.amazonaws.com/1/a", queueLength: "1", awsRegion: us-east-1}}]
`;
    expect(lensOf(text)).toBe('$0–$17.02/h on demand · $0–$7.37/h spot');
  });

  test('the deadline of a pod bounds each round of a job: 5 pods of which 2 run at once have 3', () => {
    const text = job('parallelism: 2\n  completions: 5\n  backoffLimit: 0').replace(
      'restartPolicy',
      'activeDeadlineSeconds: 3600\n      restartPolicy',
    );
    expect(lensOf(text)).toBe('$11.34/h on demand · $4.92/h spot · at most $34.03 in 3 h');
    expect(lensOf(text.replace('completions: 5', 'completions: 2'))).toMatch(/at most \$11\.34 in 60 min$/);
  });

  test('a pod that reaches its deadline has failed, so a job starts another one', () => {
    const withLimit = (fields: string) =>
      lensOf(job(fields).replace('restartPolicy', 'activeDeadlineSeconds: 3600\n      restartPolicy'));
    // 5.672 × (1 + 2), × (1 + 6) by default, 2 × 5.672 × 3 rounds × (1 + 1).
    expect(withLimit('backoffLimit: 2')).toMatch(/ · at most \$17\.02 in 3 h$/);
    expect(withLimit('completions: 1')).toMatch(/ · at most \$39\.70 in 7 h$/);
    expect(withLimit('parallelism: 2\n  completions: 5\n  completionMode: Indexed\n  backoffLimitPerIndex: 1')).toMatch(
      / · at most \$68\.06 in 6 h$/,
    );
    expect(withLimit('backoffLimit: {{ .Values.retries }}')).not.toMatch(/at most/);
    // The deadline of the job counts all of them.
    expect(withLimit('activeDeadlineSeconds: 5400')).toMatch(/ · at most \$8\.51 in 90 min$/);
  });

  test('a JobSet ends with the last of its jobs with GPUs, unless it starts again', () => {
    const jobSet = (policy: string, deadline: string) => `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: sweep}
spec:
  ${policy}
  replicatedJobs:
    - name: plain
      template: {spec: {template: {spec: {containers: [{name: main, image: registry.example.com/plain:1}]}}}}
    - name: cards
      replicas: 2
      template:
        spec:
          ${deadline}
          template:
            spec:${pod(14, '[main]')}
`;
    const amount = '$11.34/h on demand · $4.92/h spot';
    expect(lensOf(jobSet('suspend: false', 'activeDeadlineSeconds: 3600'))).toBe(
      `${amount} · at most $11.34 in 60 min`,
    );
    expect(lensOf(jobSet('failurePolicy: {maxRestarts: 2}', 'activeDeadlineSeconds: 3600'))).toBe(amount);
    expect(lensOf(jobSet('suspend: false', 'backoffLimit: 0'))).toBe(amount);
    const chained = jobSet('suspend: false', 'activeDeadlineSeconds: 3600').replace(
      'replicas: 2',
      'replicas: 2\n      dependsOn: [{name: plain, status: Complete}]',
    );
    expect(lensOf(chained)).toBe(amount);
  });

  test('a workflow ends, and a deadline of its own bounds all of its steps', () => {
    const workflow = (kind: string, fields: string, spec: string) => `apiVersion: argoproj.io/v1alpha1
kind: ${kind}
metadata: {name: sweep}
spec:
  ${fields}
  ${spec}
`;
    const templates = `entrypoint: main, templates: [{name: main, activeDeadlineSeconds: 60, nodeSelector: {node.kubernetes.io/instance-type: g5.12xlarge}, container: {image: 'registry.example.com/a:1', resources: {limits: {nvidia.com/gpu: 4}}}}]`;
    const cron = (fields: string, limit: string) =>
      lensOf(workflow('CronWorkflow', fields, `workflowSpec: {${limit}${templates}}`));
    // 2 h × 5.672 = 11.344; 30.4167 nights × 11.344 = 345.05.
    expect(cron('schedule: "0 1 * * *"', 'activeDeadlineSeconds: 7200, ')).toMatch(
      / while running .* at most \$11\.34 per run, \$345\.05 per month$/,
    );
    expect(cron('schedules: ["0 1 * * *", "0 13 * * *"]', 'activeDeadlineSeconds: 7200, ')).toMatch(
      /\$690\.09 per month$/,
    );
    // The limit of the only step: 5.672 × 60 / 3600 = 0.0945; 30.4167 nights = 2.88.
    expect(cron('schedule: "0 1 * * *"', '')).toMatch(/ · at most \$0\.09 per run, \$2\.88 per month$/);
  });

  describe('the deadlines of steps bound a workflow', () => {
    const step = (name: string, machine: string, gpus: number, fields: string) =>
      `{name: ${name}, ${fields} nodeSelector: {node.kubernetes.io/instance-type: ${machine}}, container: {image: 'registry.example.com/a:1', resources: {limits: {nvidia.com/gpu: ${gpus}}}}}`;
    const workflow = (main: string, [small, large]: readonly string[], spec = '') =>
      lensOf(`apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: chain}
spec:
  entrypoint: main
  ${spec}
  templates:
    - {name: main, ${main}}
    - ${step('small', 'g5.xlarge', 1, small ?? '')}
    - ${step('large', 'g5.12xlarge', 4, large ?? '')}
`);
    const limits = ['activeDeadlineSeconds: 1800,', 'activeDeadlineSeconds: 7200,'];
    const [small, large] = ['{name: a, template: small', '{name: b, template: large'];

    test.each([
      // 0.5 h × 1.006 + 2 h × 5.672 = 11.847, in any order, also if a condition may skip one.
      ['one after the other', `steps: [[${small}}], [${large}}]]`, limits, '', '11.85'],
      ['at once', `dag: {tasks: [${small}}, ${large}}]}`, limits, '', '11.85'],
      ['with a condition', `steps: [[${small}, when: "{{steps.x}}"}], [${large}}]]`, limits, '', '11.85'],
      // 3 × 0.5 h × 1.006 + 11.344 = 12.853.
      ['with a loop', `steps: [[${small}, withItems: [1, 2, 3]}], [${large}}]]`, limits, '', '12.85'],
      // Two attempts: 2 × 0.503 + 11.344 = 12.35.
      [
        'with retries',
        `steps: [[${small}}], [${large}}]]`,
        [`${limits[0]} retryStrategy: {limit: 1},`, limits[1] ?? ''],
        '',
        '12.35',
      ],
      // 0.5 h for both: 0.503 + 2.836 = 3.339.
      [
        'by default',
        `steps: [[${small}}], [${large}}]]`,
        [],
        'templateDefaults: {activeDeadlineSeconds: 1800}',
        '3.34',
      ],
    ])('%s', (_, main, of, spec, amount) => {
      expect(workflow(main, of, spec)).toMatch(new RegExp(` · at most \\$${amount.replace('.', '\\.')} per run$`));
    });

    test.each([
      ['one without a deadline', `steps: [[${small}}], [${large}}]]`, limits.slice(1), ''],
      [
        'a loop over a parameter',
        `steps: [[${small}, withParam: "{{workflow.parameters.x}}"}], [${large}}]]`,
        limits,
        '',
      ],
      [
        'retries without a limit',
        `steps: [[${small}}], [${large}}]]`,
        [`${limits[0]} retryStrategy: {},`, limits[1] ?? ''],
        '',
      ],
      ['hooks', `steps: [[${small}}], [${large}}]]`, limits, 'hooks: {exit: {template: small}}'],
      ['a template that starts itself', `steps: [[${small}}, ${large}}], [{name: c, template: main}]]`, limits, ''],
    ])('but not with %s', (_, main, of, spec) => {
      expect(workflow(main, of, spec)).not.toContain('at most');
    });
  });

  test('a run of Tekton ends, by its own limit at the latest', () => {
    const step = (name: string, fields: string) =>
      `{name: ${name}${fields}, taskSpec: {steps: [{name: main, image: 'registry.example.com/a:1', computeResources: {limits: {nvidia.com/gpu: 4}}}]}}`;
    const run = (limit: string, fields = '') =>
      lensOf(`apiVersion: tekton.dev/v1
kind: PipelineRun
metadata: {name: tune}
spec:
  ${limit}
  taskRunTemplate: {podTemplate: {nodeSelector: {node.kubernetes.io/instance-type: g5.12xlarge}}}
  pipelineSpec: {tasks: [${step('train', fields)}]}
`);
    // 1.5 h × 5.672 = 8.508.
    expect(run('timeouts: {pipeline: 1h30m}')).toBe('$5.67/h on demand · $2.46/h spot · at most $8.51 in 90 min');
    expect(run('timeouts: {pipeline: "0"}')).toBe('$5.67/h on demand · $2.46/h spot');
    // The task's own limit and one more attempt: 2 × 0.5 h × 5.672.
    expect(run('params: []', ', timeout: 30m, retries: 1')).toMatch(/ · at most \$5\.67 per run$/);
    expect(run('params: []', ', timeout: 30m, matrix: {params: []}')).not.toContain('at most');
    expect(run('params: []')).toBe('$5.67/h on demand · $2.46/h spot');
  });

  test('Kueue stops a job after its longest time', () => {
    const queued = (labels: string, deadline: string) =>
      job(deadline).replace('metadata: {name: train}', `metadata: {name: train, labels: {${labels}}}`);
    const limit = 'kueue.x-k8s.io/max-exec-time-seconds: "1800"';
    // 0.5 h × 5.672 = 2.836.
    expect(lensOf(queued(limit, 'backoffLimit: 0'))).toMatch(/ · at most \$2\.84 in 30 min$/);
    expect(lensOf(queued(limit, 'activeDeadlineSeconds: 900'))).toMatch(/ · at most \$1\.42 in 15 min$/);
    expect(lensOf(queued('team: a', 'backoffLimit: 0'))).toBe('$5.67/h on demand · $2.46/h spot');
  });

  test('a RayJob that leaves its cluster running has no total', () => {
    const rayJob = (shutdown: boolean) => `apiVersion: ray.io/v1
kind: RayJob
metadata: {name: ray}
spec:
  activeDeadlineSeconds: 7200
  shutdownAfterJobFinishes: ${shutdown}
  rayClusterSpec:
    headGroupSpec:
      template:
        spec:${pod(10)}
`;
    expect(lensOf(rayJob(true))).toBe('$5.67/h on demand · $2.46/h spot · at most $11.34 in 2 h');
    expect(lensOf(rayJob(false))).toBe('$5.67/h on demand · $2.46/h spot');
  });

  test('steps of known duration make the total', () => {
    // 36,000 steps × 2.5 s = 25 h; 25 × $5.672 = $141.80.
    const text = job('backoffLimit: 0', '[python, train.py, --max_steps=36000]');
    expect(lensOf(text, 'training: {stepSeconds: 2.5}')).toBe(
      '$5.67/h on demand · $2.46/h spot · about $141.80 in 25 h',
    );
    expect(lensOf(text)).toBe('$5.67/h on demand · $2.46/h spot');
  });

  test('a schedule multiplies the runs', () => {
    // A run a day: 730/24 × 2 h × $5.672 = $345.05.
    expect(lensOf(cronJob('"0 3 * * *"', 'activeDeadlineSeconds: 7200'))).toBe(
      '$5.67/h on demand while running · $2.46/h spot · at most $11.34 per run, $345.05 per month',
    );
  });

  test('runs that exclude each other fill a month at most', () => {
    // 730 runs of at most 2 h: 730 h × $5.672 = $4,140.56, and twice that if they overlap.
    const hourly = (policy: string) =>
      lensOf(
        cronJob('"0 * * * *"', 'activeDeadlineSeconds: 7200').replace('spec:', `spec:\n  concurrencyPolicy: ${policy}`),
      );
    for (const policy of ['Forbid', 'Replace'])
      expect(hourly(policy)).toMatch(/ · at most \$11\.34 per run, \$4,140\.56 per month$/);
    expect(hourly('Allow')).toMatch(/ · at most \$11\.34 per run, \$8,281\.12 per month$/);
  });

  test('a suspended schedule costs nothing now', () => {
    const text = cronJob('"0 * * * *"', 'activeDeadlineSeconds: 7200').replace('spec:', 'spec:\n  suspend: true');
    expect(lensOf(text)).toBe('$0/h, suspended · $5.67/h on demand while running · at most $11.34 per run');
  });

  test('a suspended job costs nothing now, unless a queue of Kueue resumes it', () => {
    const text = job('activeDeadlineSeconds: 7200', '[python, train.py]').replace('spec:', 'spec:\n  suspend: true');
    expect(lensOf(text)).toMatch(/^\$0\/h, suspended · \$5\.67\/h on demand while running · at most \$11\.34 in 2 h/);
    const queued = text.replace(/metadata: \{/, 'metadata: {labels: {kueue.x-k8s.io/queue-name: team}, ');
    expect(lensOf(queued)).toMatch(/^\$5\.67\/h on demand · \$2\.46\/h spot · at most \$11\.34 in 2 h/);
  });

  test('a controller that restarts its pods has no run', () => {
    const text = job('replicas: 1', '[python, train.py, --max_steps=36000]')
      .replace('batch/v1', 'apps/v1')
      .replace('Job', 'Deployment');
    expect(lensOf(text, 'training: {stepSeconds: 2.5}')).toBe('$5.67/h on demand · $2.46/h spot');
  });

  test('a run of unknown length has a price while it runs', () => {
    expect(lensOf(cronJob('"@hourly"', 'backoffLimit: 0'))).toBe('$5.67/h on demand while running · $2.46/h spot');
  });
});

describe('honest ranges', () => {
  const endpoint = (replicas: string, selector: string) => `apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat}
spec:
  predictor:
    ${replicas}
    nodeSelector: {${selector}}
    containers:
      - name: kserve-container
        image: registry.example.com/vllm:1
        resources: {limits: {nvidia.com/gpu: 1}}
`;

  test('idle at a range of machines is a lower bound', () => {
    const lens = lensOf(endpoint('minReplicas: 1', 'nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3'));
    expect(lens).toMatch(/ · idle from \$[\d,]+\/month$/);
  });

  test('idle on one machine is a number', () => {
    const lens = lensOf(endpoint('minReplicas: 1', 'node.kubernetes.io/instance-type: g5.12xlarge'));
    expect(lens).toMatch(/ · \$1,035\/month idle$/);
  });

  test('a ceiling that is not set stays open', () => {
    const text = `apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray}
spec:
  enableInTreeAutoscaling: true
  headGroupSpec: {template: {spec: {containers: [{name: head, image: registry.example.com/ray:1}]}}}
  workerGroupSpecs:
    - groupName: gpu
      minReplicas: 2
      template:
        spec:${pod(10)}
`;
    expect(lensOf(text)).toBe('from $11.34/h on demand · from $4.92/h spot');
  });
});

test.each([
  ['0 3 * * *', 730 / 24],
  ['*/15 * * * *', 730 * 4],
  ['@weekly', 730 / 168],
  ['0 9-17 * * 1-5', (9 * 5 * 730) / 168],
  ['0 3 * * 1-5', ((365 / 12) * 5) / 7],
  ['@monthly', 1],
  ['0 0 1,15 * *', 2],
  ['@yearly', 1 / 12],
  ['0 0 29 2 *', 1 / 48],
  // The first of a month, and each Monday that is not the first.
  ['0 0 1 * 1', 1 + ((365.25 / 12 - 1) * 1) / 7],
  ['@every 2h30m', 730 / 2.5],
])('%s runs %f times in a month', (schedule, runs) => {
  expect(runsPerMonth(schedule)).toBeCloseTo(runs, 9);
});

test('an invalid schedule has no number of runs', () => {
  expect(runsPerMonth('61 * * * *')).toBeNull();
});
