import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { listed } from './listed-pools.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// Workloads that Terraform creates, with amounts computed by hand: a g6.xlarge is $0.8048/h, a g6.12xlarge $4.6016/h, a g2-standard-24 $2.0008/h.

const pod = (gpus: string, node = '{ "node.kubernetes.io/instance-type" = "g6.12xlarge" }') => `template {
      metadata { labels = { app = "film" } }
      spec {
        node_selector = ${node}
        container {
          name  = "main"
          image = var.image
          resources {
            requests = { cpu = "4", memory = "16Gi" }
            limits   = { "nvidia.com/gpu" = ${gpus} }
          }
        }
      }
    }`;

const resource = (kind: string, spec: string, more = '') => `resource "${kind}" "film" {
  ${more}
  metadata {
    name      = "film"
    namespace = kubernetes_namespace.lab.metadata[0].name
  }
  spec {
    ${spec}
  }
}
`;

test.each([
  // 3 × 2/4 of g6.12xlarge.
  ['kubernetes_deployment', `replicas = 3\n${pod('2')}`, /Deployment\/film +6 GPUs +\$6\.90\/h/],
  ['kubernetes_stateful_set_v1', `replicas = 1\n${pod('"4"')}`, /StatefulSet\/film +4 GPUs +\$4\.60\/h/],
  ['kubernetes_deployment_v1', pod('1'), /Deployment\/film +1 GPU +\$1\.15\/h/],
  // 2 pods for 30 min.
  [
    'kubernetes_job_v1',
    `parallelism = 2\ncompletions = 2\nactive_deadline_seconds = 1800\n${pod('4')}`,
    /Job\/film +8 GPUs +\$9\.20\/h +at most \$4\.60 in 30 min/,
  ],
  [
    'kubernetes_cron_job_v1',
    `schedule = "0 3 * * *"\nsuspend = true\njob_template {\nspec {\n${pod('4')}\n}\n}`,
    /CronJob\/film +4 GPUs +\$0\/h +suspended: \$4\.60\/h while running/,
  ],
  // What the files do not state is unknown.
  ['kubernetes_deployment', `replicas = var.replicas\n${pod('2')}`, /Deployment\/film +\? GPUs +no price/],
  ['kubernetes_deployment', `replicas = 2\n${pod('var.cards')}`, /Deployment\/film +\? GPUs +no price/],
])('%s with %j', async (kind, spec, row) => {
  expect(await listed({ 'main.tf': resource(kind, spec) })).toMatch(row);
});

test('node affinity, and an object of any kind', async () => {
  const affinity = `affinity {
          node_affinity {
            required_during_scheduling_ignored_during_execution {
              node_selector_term {
                match_expressions {
                  key      = "node.kubernetes.io/instance-type"
                  operator = "In"
                  values   = ["g6.xlarge"]
                }
              }
            }
          }
        }`;
  const bound = pod('1').replace(/node_selector = .*/, affinity);
  expect(await listed({ 'a.tf': resource('kubernetes_deployment', bound) })).toMatch(/film +1 GPU +\$0\.80\/h/);
  const manifest = `resource "kubernetes_manifest" "film" {
  manifest = {
    apiVersion = "serving.kserve.io/v1beta1"
    kind       = "InferenceService"
    metadata   = { name = "film", namespace = "lab" }
    spec = {
      predictor = {
        minReplicas  = 1
        maxReplicas  = 2
        nodeSelector = { "node.kubernetes.io/instance-type" = "g6.xlarge" }
        containers   = [{ name = "kserve-container", image = var.image, resources = { limits = { "nvidia.com/gpu" = "1" } } }]
      }
    }
  }
}
`;
  expect(await listed({ 'a.tf': manifest })).toMatch(/InferenceService\/film +1–2 GPUs +\$0\.80–\$1\.61\/h/);
});

test('on a pool of the same file, as often as the resource exists', async () => {
  const pool = `resource "google_container_node_pool" "p" {
  name     = "film"
  cluster  = "lab"
  location = "us-central1-a"
  node_config {
    machine_type = "g2-standard-24"
    labels       = { lane = "film" }
  }
}
`;
  const workload = (more: string) =>
    resource('kubernetes_deployment', `replicas = 2\n${pod('1', '{ lane = "film" }')}`, more);
  const stdout = await listed({ 'main.tf': pool + workload('count = 3') });
  // 3 × 2 × 1/2 of g2-standard-24.
  expect(stdout.match(/Deployment\/film +2 GPUs +\$2\.00\/h/g)).toHaveLength(3);
  expect(stdout).toContain('film · g2-standard-24 · $2.00/h on demand per node');
  expect(stdout).toContain('3 workloads, 6 GPUs: $6.00/h');
  expect(await listed({ 'main.tf': pool + workload('count = length(var.teams)') })).toContain('0 workloads');
});

test.each([
  // 3 × 2/4 of g6.12xlarge, by a default, a local value, and a file of variables that always applies.
  [{ 'v.tf': 'variable "replicas" {\n  default = 3\n}\n' }, 'var.replicas', /film +6 GPUs +\$6\.90\/h/],
  [{ 'v.tf': 'locals {\n  replicas = 3\n}\n' }, 'local.replicas', /film +6 GPUs +\$6\.90\/h/],
  [
    { 'v.tf': 'variable "replicas" {\n  default = 9\n}\n', 'terraform.tfvars': 'replicas = 3\n' },
    'var.replicas',
    /film +6 GPUs +\$6\.90\/h/,
  ],
  [{ 'v.tf': 'variable "busy" {\n  default = true\n}\n' }, 'var.busy ? 3 : 0', /film +6 GPUs +\$6\.90\/h/],
  // One of two environments, and a variable without a default.
  [
    { 'v.tf': 'variable "replicas" {}\n', 'prod.tfvars': 'replicas = 3\n', 'dev.tfvars': 'replicas = 1\n' },
    'var.replicas',
    /film +\? GPUs +no price/,
  ],
  [{ 'v.tf': 'variable "replicas" {}\n' }, 'var.replicas', /film +\? GPUs +no price/],
])('replicas that %j states', async (files: Readonly<Record<string, string>>, replicas, row) => {
  const workload = resource('kubernetes_deployment', `replicas = ${replicas}\n${pod('2')}`);
  expect(await listed({ ...files, 'main.tf': workload })).toMatch(row);
});

test('machines and copies by variables, and what a module passes', async () => {
  const variables = 'variable "machine" {\n  default = "g6.xlarge"\n}\nvariable "copies" {\n  default = 0\n}\n';
  const node = '{ "node.kubernetes.io/instance-type" = var.machine }';
  const one = resource('kubernetes_deployment', `replicas = 2\n${pod('1', node)}`);
  expect(await listed({ 'v.tf': variables, 'main.tf': one })).toMatch(/film +2 GPUs +\$1\.61\/h/);
  const none = resource('kubernetes_deployment', pod('1', node), 'count = var.copies');
  expect(await listed({ 'v.tf': variables, 'main.tf': none })).toContain('0 workloads');
  const use = 'module "film" {\n  source  = "./film"\n  machine = "g6.12xlarge"\n  copies  = 2\n}\n';
  const stdout = await listed({ 'main.tf': use, 'film/v.tf': variables, 'film/main.tf': none });
  // A quarter of g6.12xlarge, twice.
  expect(stdout.match(/film +1 GPU +\$1\.15\/h/g)).toHaveLength(2);
});

test('each use of a module with its own values, and as many copies as it states', async () => {
  const module = resource('kubernetes_deployment', `replicas = var.replicas\n${pod('1')}`);
  const use = (name: string, more: string) => `module "${name}" {\n  source = "./film"\n  ${more}\n}\n`;
  const files = { 'film/main.tf': `variable "replicas" {}\n${module}` };
  const both = await listed({ ...files, 'main.tf': use('a', 'replicas = 2') + use('b', 'replicas = 4') });
  // A quarter of g6.12xlarge is 1.1504: 2 and 4 of it.
  expect(both).toMatch(/film +2 GPUs +\$2\.30\/h/);
  expect(both).toContain('2 workloads, 6 GPUs: $6.90/h');
  const copies = await listed({ ...files, 'main.tf': use('a', 'replicas = 2\n  count = 3') });
  expect(copies).toContain('3 workloads, 6 GPUs: $6.90/h');
  expect(await listed({ ...files, 'main.tf': use('a', 'replicas = 2\n  count = 0') })).toContain('0 workloads');
  // A computed number of copies counts once.
  const computed = await listed({ ...files, 'main.tf': use('a', 'replicas = 2\n  count = var.copies') });
  expect(computed).toContain('1 workload, 2 GPUs: $2.30/h');
});

test('objects of the provider kubectl, with variables in their text', async () => {
  const document = (replicas: string, more = '') => `apiVersion: apps/v1
    kind: Deployment
    metadata: {name: film}
    spec:
      replicas: ${replicas}
      selector: {matchLabels: {app: film}}
      template:
        metadata: {labels: {app: film}}
        spec:
          nodeSelector: {node.kubernetes.io/instance-type: "g6.xlarge"}
          containers:
            - name: main
              image: \${aws_ecr_repository.film.repository_url}:2
              resources: {limits: {nvidia.com/gpu: 1}}${more}`;
  const made = (text: string, count = '') =>
    `locals {\n  replicas = 3\n}\nresource "kubectl_manifest" "film" {\n  ${count}\n  yaml_body = <<-YAML\n    ${text}\n  YAML\n}\n`;
  // 3 × 0.8048.
  expect(await listed({ 'a.tf': made(document(`\${local.replicas}`)) })).toMatch(
    /Deployment\/film +3 GPUs +\$2\.41\/h/,
  );
  expect(await listed({ 'a.tf': made(document('2'), 'count = 2') })).toContain('2 workloads, 4 GPUs: $3.22/h');
  expect(await listed({ 'a.tf': made(document(`\${var.replicas}`)) })).toMatch(/film +\? GPUs +no price/);
  // An escaped reference is text for whoever reads the object.
  expect(await listed({ 'a.tf': made(document(`$\${local.replicas}`)) })).toMatch(/film +\? GPUs +no price/);
  // A directive decides which lines exist.
  const directive = document('3', '\n    %{ if var.extra }\n    # more\n    %{ endif }');
  expect(await listed({ 'a.tf': made(directive) })).not.toContain('film ');
});

test('values of a release with variables', async () => {
  const chart = {
    'chart/Chart.yaml': 'apiVersion: v2\nname: rank\nversion: 1.0.0\n',
    'chart/values.yaml': 'replicas: 1\n',
    'chart/templates/rank.yaml':
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: rank}\nspec:\n  replicas: {{ .Values.replicas }}\n  selector: {matchLabels: {app: rank}}\n  template:\n    metadata: {labels: {app: rank}}\n    spec:\n      nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}\n      containers:\n        - {name: main, image: "r/x:1", resources: {limits: {nvidia.com/gpu: 1}}}\n',
  };
  const variable = 'variable "replicas" {\n  default = 4\n}\n';
  const release = (values: string) =>
    `resource "helm_release" "rank" {\n  name  = "rank"\n  chart = "./chart"\n  ${values}\n}\n`;
  const forms = [
    'set {\n    name  = "replicas"\n    value = var.replicas\n  }',
    'set = [{ name = "replicas", value = var.replicas }]',
    `values = [<<-EOT\n    replicas: \${var.replicas}\n  EOT\n  ]`,
    'values = [yamlencode({ replicas = var.replicas })]',
  ];
  for (const form of forms) {
    // 4 × 0.8048. Without a value, the chart counts with its own: 0.8048.
    const known = await listed({ ...chart, 'main.tf': variable + release(form) });
    expect(known).toContain('1 workload, 4 GPUs: $3.22/h');
  }
  for (const form of forms.slice(1, 3))
    expect(await listed({ ...chart, 'main.tf': release(form) })).toContain('1 workload, 1 GPU: $0.80/h');
});

test('a chart next to a workload, and no findings', async () => {
  const chart = {
    'chart/Chart.yaml': 'apiVersion: v2\nname: rank\nversion: 1.0.0\n',
    'chart/templates/rank.yaml':
      'apiVersion: v1\nkind: Pod\nmetadata: {name: rank}\nspec:\n  nodeSelector: {node.kubernetes.io/instance-type: g6.xlarge}\n  containers:\n    - {name: main, image: "r/x:1", resources: {limits: {nvidia.com/gpu: 1}}}\n',
  };
  const release = 'resource "helm_release" "rank" {\n  name  = "rank"\n  chart = "./chart"\n}\n';
  const text = resource('kubernetes_deployment', `replicas = 2\n${pod('4')}`);
  for (const both of [text + release, release + text]) {
    const stdout = await listed({ ...chart, 'main.tf': both });
    expect(stdout).toMatch(/Deployment\/film +8 GPUs +\$9\.20\/h/);
    expect(stdout).toMatch(/Pod\/rank +1 GPU +\$0\.80\/h/);
  }
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'main.tf'), text.replace('{ "nvidia.com/gpu" = 4 }', '{ "nvidia.com/gpu" = "0.5" }'));
  const { stdout } = await runCli(['check', '--no-color'], { cwd: folder });
  expect(stdout).toContain('no findings');
});

test('the bounds of an autoscaler that Terraform creates, also in another file if it is named', async () => {
  const scaler = (name: string, bounds = 'min_replicas = 2\n    max_replicas = 5') =>
    `resource "kubernetes_horizontal_pod_autoscaler_v2" "s" {
  metadata { name = "film" }
  spec {
    ${bounds}
    scale_target_ref {
      api_version = "apps/v1"
      kind        = "Deployment"
      name        = ${name}
    }
  }
}
`;
  const deployment = resource(
    'kubernetes_deployment',
    pod('1', '{ "node.kubernetes.io/instance-type" = "g6.xlarge" }'),
  );
  const row = /Deployment\/film +2–5 GPUs +\$1\.61–\$4\.02\/h/;
  const own = 'kubernetes_deployment.film.metadata[0].name';
  expect(await listed({ 'a.tf': deployment + scaler(own) })).toMatch(row);
  expect(await listed({ 'a.tf': deployment, 'b.tf': scaler('"film"') })).toMatch(row);
  expect(await listed({ 'a.tf': deployment, 'b.tf': scaler('"other"') })).toMatch(/film +1 GPU +\$0\.80\/h/);
  const bounds = scaler(own, 'min_replicas = local.least\n    max_replicas = var.most');
  const values = 'locals {\n  least = 2\n}\nvariable "most" {}\n';
  expect(await listed({ 'a.tf': deployment + bounds, 'v.tf': values, 'terraform.tfvars': 'most = 5\n' })).toMatch(row);
  // A maximum that a variable without a value sets is unknown.
  const open = await listed({ 'a.tf': deployment + scaler(own, 'min_replicas = 1\n    max_replicas = var.most') });
  expect(open).not.toMatch(/film +1 GPU +\$0\.80\/h\n/);
});

test('many copies of a module with many workloads, and a variable with an endless name', async () => {
  const one = resource('kubernetes_deployment', `replicas = var.replicas\n${pod('var.cards')}`);
  const uses = Array.from(
    { length: 40 },
    (_, n) => `module "m${n}" {\n  source = "./mod"\n  count = 99\n  replicas = ${n}\n}`,
  );
  const object = (name: string) => `resource "kubectl_manifest" "a" {
  yaml_body = <<-YAML
    apiVersion: v1
    kind: Pod
    metadata: {name: "\${${name}}"}
    spec:
      containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]
  YAML
}
`;
  const files = {
    'mod/main.tf': one.repeat(500),
    'main.tf': uses.join('\n'),
    'o.tf': object(`var${'.a'.repeat(100_000)}`),
  };
  expect(await listed(files)).toMatch(/^1,?001 workloads/m);
});
