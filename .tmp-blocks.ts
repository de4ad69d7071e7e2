import { Analysis } from '/work/h/max/server/src/analysis.ts';
type O = any;
const base = (): O => ({
  containers: [{ name: 'main', image: 'vllm/vllm-openai:v0.10.2', args: ['--model', 'Qwen/Qwen2.5-7B-Instruct', '--tensor-parallel-size=2'],
    resources: { limits: { 'nvidia.com/gpu': 2 } }, env: [{ name: 'LOG_LEVEL', value: 'info' }], volumeMounts: [{ name: 'shm', mountPath: '/dev/shm' }] }],
  volumes: [{ name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '8Gi' } }],
  nodeSelector: { 'cloud.google.com/gke-accelerator': 'nvidia-l4' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
});
const mistakes: Record<string, [RegExp, (p: O) => void]> = {
  'misspelt resource': [/^gpu-resource-name$/, (p) => { p.containers[0].resources = { limits: { 'nvidia.com/gpus': 2 } }; }],
  fraction: [/^gpu-quantity-whole$/, (p) => { p.containers[0].resources = { limits: { 'nvidia.com/gpu': 0.5 } }; }],
  'requests only': [/^gpu-limits-required$/, (p) => { p.containers[0].resources = { requests: { 'nvidia.com/gpu': 2 } }; }],
  'TP > GPUs': [/^tensor-parallel/, (p) => { p.containers[0].args[2] = '--tensor-parallel-size=4'; }],
  'latest tag': [/^image-not-pinned$/, (p) => { p.containers[0].image = 'vllm/vllm-openai:latest'; }],
  'unknown MIG': [/^mig-/, (p) => { p.containers[0].resources = { limits: { 'nvidia.com/mig-1g.5g': 1 } }; }],
  'misspelt effect': [/^toleration-invalid$/, (p) => { p.tolerations[0].effect = 'NoShedule'; }],
  'secret in text': [/^token-in-plain-text$/, (p) => { p.containers[0].env.push({ name: 'HF_TOKEN', value: 'hf_aBcDeFgHiJkLmNoPqRsTuVwXyZabcdefgh' }); }],
  'duplicate env': [/^duplicate-name$/, (p) => { p.containers[0].env.push({ name: 'LOG_LEVEL', value: 'debug' }); }],
  'missing shm': [/^shm-missing$/, (p) => { delete p.volumes; delete p.containers[0].volumeMounts; }],
  'emptyDir checkpoints on spot': [/^(checkpoint-ephemeral|spot-without-checkpoint)$/, (p) => {
    p.containers[0].image = 'registry.example/trainer:1.4'; delete p.containers[0].args; p.containers[0].command = ['torchrun', '--nproc_per_node=2', 'train.py', '--output_dir=/ckpt', '--save_steps=500'];
    p.containers[0].volumeMounts.push({ name: 'ckpt', mountPath: '/ckpt' }); p.volumes.push({ name: 'ckpt', emptyDir: {} }); p.nodeSelector['cloud.google.com/gke-spot'] = 'true'; }],
  'unknown card': [/^selector-value$/, (p) => { p.nodeSelector['cloud.google.com/gke-accelerator'] = 'nvidia-h100'; }],
  'number env': [/^value-not-string$/, (p) => { p.containers[0].env.push({ name: 'EPOCHS', value: 3 }); }],
  'misspelled field': [/^api-field$/, (p) => { p.containers[0].imagePullPolcy = 'Always'; }],
  'missing volume': [/^object-reference$/, (p) => { p.containers[0].volumeMounts.push({ name: 'data', mountPath: '/data' }); }],
};
const J = (o: O) => JSON.stringify(o, null, 2);
const meta = { name: 'app', namespace: 'ml' };
const dep = (p: O): O => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: meta, spec: { replicas: 1, selector: { matchLabels: { app: 'app' } }, template: { metadata: { labels: { app: 'app' } }, spec: p } } });
const job = (p: O): O => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: meta, spec: { template: { spec: { restartPolicy: 'Never', ...p } } } });
const obj = (apiVersion: string, kind: string, spec: O): O => ({ apiVersion, kind, metadata: meta, spec });
const yaml = (o: O, by = 0): string => toY(o).split('\n').map((l) => ' '.repeat(by) + l).join('\n');
function toY(o: O, ind = ''): string {
  if (Array.isArray(o)) return o.length === 0 ? '[]' : o.map((x) => (typeof x === 'object' ? `${ind}- ${toY(x, ind + '  ').trimStart()}` : `${ind}- ${sc(x)}`)).join('\n');
  return Object.keys(o).length === 0 ? '{}' : Object.entries(o).map(([k, v]: any) => typeof v === 'object' && v !== null ? (Object.keys(v).length === 0 ? `${ind}${k}: ${Array.isArray(v) ? '[]' : '{}'}` : `${ind}${k}:\n${toY(v, ind + '  ')}`) : `${ind}${k}: ${sc(v)}`).join('\n');
}
const sc = (v: any) => (typeof v === 'string' ? JSON.stringify(v) : String(v));
const c0 = (p: O) => p.containers[0];
const without = (o: O, ...k: string[]) => Object.fromEntries(Object.entries(o).filter(([n]) => !k.includes(n)));
const wfTemplate = (p: O) => ({ name: 'train', container: without(c0(p), 'name'), volumes: p.volumes, nodeSelector: p.nodeSelector, tolerations: p.tolerations });
const tektonStep = (p: O) => { const c = c0(p); return without({ ...c, computeResources: c.resources, script: undefined }, 'resources', 'script'); };
const tektonPod = (p: O) => ({ nodeSelector: p.nodeSelector, tolerations: p.tolerations });
const strip = (o: O) => JSON.parse(JSON.stringify(o));
const blocks: Record<string, (p: O) => O | string> = {
  'Tekton TaskRun': (p) => obj('tekton.dev/v1', 'TaskRun', { podTemplate: tektonPod(p), taskSpec: { steps: [tektonStep(p)], volumes: p.volumes } }),
  'Tekton PipelineRun': (p) => obj('tekton.dev/v1', 'PipelineRun', { taskRunTemplate: { podTemplate: tektonPod(p) }, pipelineSpec: { tasks: [{ name: 'train', taskSpec: { steps: [tektonStep(p)], volumes: p.volumes } }] } }),
  'Tekton PipelineRun taskRunSpecs': (p) => obj('tekton.dev/v1', 'PipelineRun', { taskRunSpecs: [{ pipelineTaskName: 'train', podTemplate: tektonPod(p) }], pipelineSpec: { tasks: [{ name: 'train', taskSpec: { steps: [tektonStep(p)], volumes: p.volumes } }] } }),
  'Tekton Task v1beta1': (p) => obj('tekton.dev/v1beta1', 'Task', { steps: [without(c0(p))], volumes: p.volumes }),
  'Argo WorkflowTemplate': (p) => obj('argoproj.io/v1alpha1', 'WorkflowTemplate', { entrypoint: 'train', templates: [wfTemplate(p)] }),
  'Argo ClusterWorkflowTemplate': (p) => obj('argoproj.io/v1alpha1', 'ClusterWorkflowTemplate', { entrypoint: 'train', templates: [wfTemplate(p)] }),
  'Argo CronWorkflow': (p) => obj('argoproj.io/v1alpha1', 'CronWorkflow', { schedules: ['0 3 * * *'], workflowSpec: { entrypoint: 'train', templates: [wfTemplate(p)] } }),
  'Argo script': (p) => obj('argoproj.io/v1alpha1', 'Workflow', { entrypoint: 'train', templates: [{ ...without(wfTemplate(p), 'container'), script: { ...without(c0(p), 'name', 'args'), command: ['sh'], source: [...(c0(p).command ?? ['vllm', 'serve']), ...(c0(p).args ?? [])].join(' ') } }] }),
  'Argo containerSet': (p) => obj('argoproj.io/v1alpha1', 'Workflow', { entrypoint: 'train', templates: [{ ...without(wfTemplate(p), 'container'), containerSet: { containers: [c0(p)] } }] }),
  'Argo sidecar': (p) => obj('argoproj.io/v1alpha1', 'Workflow', { entrypoint: 'train', templates: [{ ...without(wfTemplate(p), 'container'), container: { image: 'alpine:3.20', command: ['sleep', '60'] }, sidecars: [c0(p)] }] }),
  'Argo templateDefaults': (p) => obj('argoproj.io/v1alpha1', 'Workflow', { entrypoint: 'train', templateDefaults: { ...without(wfTemplate(p), 'name', 'container'), container: { resources: c0(p).resources, env: c0(p).env, volumeMounts: c0(p).volumeMounts } }, templates: [{ name: 'train', container: without(c0(p), 'name', 'resources', 'env', 'volumeMounts') }] }),
  'Argo podSpecPatch': (p) => obj('argoproj.io/v1alpha1', 'Workflow', { entrypoint: 'train', templates: [{ name: 'train', container: { image: 'vllm/vllm-openai:v0.10.2', command: ['python3', 'run.py'] }, podSpecPatch: yaml(p) }] }),
  'KFP compiled v1 Workflow': (p) => obj('argoproj.io/v1alpha1', 'Workflow', { entrypoint: 'train', templates: [{ ...wfTemplate(p), metadata: { labels: { 'pipelines.kubeflow.org/kfp_sdk_version': '1.8.22' } } }] }),
  RayCluster: (p) => obj('ray.io/v1', 'RayCluster', { rayVersion: '2.40.0', headGroupSpec: { rayStartParams: {}, template: { spec: { containers: [{ name: 'head', image: 'rayproject/ray:2.40.0' }] } } }, workerGroupSpecs: [{ groupName: 'gpu', replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: { spec: p } }] }),
  RayJob: (p) => obj('ray.io/v1', 'RayJob', { entrypoint: 'python a.py', shutdownAfterJobFinishes: true, rayClusterSpec: { rayVersion: '2.40.0', headGroupSpec: { rayStartParams: {}, template: { spec: { containers: [{ name: 'head', image: 'rayproject/ray:2.40.0' }] } } }, workerGroupSpecs: [{ groupName: 'gpu', replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: { spec: p } }] } }),
  Knative: (p) => obj('serving.knative.dev/v1', 'Service', { template: { spec: p } }),
  DeploymentConfig: (p) => obj('apps.openshift.io/v1', 'DeploymentConfig', { replicas: 1, selector: { app: 'app' }, template: { metadata: { labels: { app: 'app' } }, spec: p } }),
  'Crossplane Object': (p) => obj('kubernetes.crossplane.io/v1alpha2', 'Object', { forProvider: { manifest: dep(p) } }),
  'Crossplane Object v1alpha1': (p) => obj('kubernetes.crossplane.io/v1alpha1', 'Object', { forProvider: { manifest: dep(p) } }),
  'Crossplane Object m': (p) => obj('kubernetes.m.crossplane.io/v1alpha1', 'Object', { forProvider: { manifest: dep(p) } }),
  'Kyverno generate data': (p) => obj('kyverno.io/v1', 'ClusterPolicy', { rules: [{ name: 'gen', match: { any: [{ resources: { kinds: ['Namespace'] } }] }, generate: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', namespace: 'ml', synchronize: true, data: without(dep(p), 'apiVersion', 'kind') } }] }),
  ManifestWork: (p) => obj('work.open-cluster-management.io/v1', 'ManifestWork', { workload: { manifests: [dep(p)] } }),
  ManifestWorkReplicaSet: (p) => obj('work.open-cluster-management.io/v1alpha1', 'ManifestWorkReplicaSet', { placementRefs: [{ name: 'x' }], manifestWorkTemplate: { workload: { manifests: [dep(p)] } } }),
  'OCM Policy object-templates': (p) => obj('policy.open-cluster-management.io/v1', 'Policy', { remediationAction: 'enforce', 'policy-templates': [{ objectDefinition: { apiVersion: 'policy.open-cluster-management.io/v1', kind: 'ConfigurationPolicy', metadata: meta, spec: { 'object-templates': [{ complianceType: 'musthave', objectDefinition: dep(p) }] } } }] }),
  'Karmada Work': (p) => obj('work.karmada.io/v1alpha1', 'Work', { workload: { manifests: [dep(p)] } }),
  'ConfigMap embedded (Sveltos)': (p) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n  app.yaml: |\n${yaml(dep(p), 4)}\n`,
  'Rancher Bundle': (p) => `apiVersion: fleet.cattle.io/v1alpha1\nkind: Bundle\nmetadata: {name: app}\nspec:\n  resources:\n    - name: app.yaml\n      content: |\n${yaml(dep(p), 8)}\n`,
  'CRS Secret stringData': (p) => `apiVersion: v1\nkind: Secret\nmetadata: {name: app}\ntype: addons.cluster.x-k8s.io/resource-set\nstringData:\n  app.yaml: |\n${yaml(dep(p), 4)}\n`,
  'heredoc in ConfigMap script': (p) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n  run.sh: |\n    #!/bin/sh\n    cat <<EOF | kubectl apply -f -\n${yaml(dep(p), 4)}\n    EOF\n`,
  'heredoc kubectl apply -f - <<EOF': (p) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata:\n  run.sh: |\n    kubectl apply -f - <<'EOF'\n${yaml(dep(p), 4)}\n    EOF\n`,
  'heredoc in Job args': (p) => `apiVersion: batch/v1\nkind: Job\nmetadata: {name: app}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n        - name: kubectl\n          image: bitnami/kubectl:1.30\n          command: [sh, -c]\n          args:\n            - |\n              kubectl apply -f - <<EOF\n${yaml(dep(p), 14)}\n              EOF\n`,
  'heredoc GitHub workflow': (p) => `name: ci\non: push\njobs:\n  e2e:\n    runs-on: ubuntu-latest\n    steps:\n      - run: |\n          kubectl apply -f - <<EOF\n${yaml(dep(p), 10)}\n          EOF\n`,
  List: (p) => ({ apiVersion: 'v1', kind: 'List', items: [dep(p)] }),
  DeploymentList: (p) => ({ apiVersion: 'apps/v1', kind: 'DeploymentList', items: [dep(p)] }),
  'OpenShift Template': (p) => ({ apiVersion: 'template.openshift.io/v1', kind: 'Template', metadata: meta, objects: [dep(p)], parameters: [] }),
  'Kustomize patch inline': (p) => `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [app.yaml]\npatches:\n  - target: {kind: Deployment, name: app}\n    patch: |\n${yaml(without(dep(p), 'x'), 6)}\n`,
  'Kustomize JSON6902 add': (p) => `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [app.yaml]\npatches:\n  - target: {kind: Deployment, name: app}\n    patch: |\n      - op: replace\n        path: /spec/template/spec\n        value:\n${yaml(p, 10)}\n`,
  'Helm extraObjects': (p) => ({ replicaCount: 1, extraObjects: [dep(p)] }),
  'Helm extraDeploy': (p) => ({ replicaCount: 1, extraDeploy: [dep(p)] }),
  'Helm extraManifests': (p) => ({ replicaCount: 1, extraManifests: [dep(p)] }),
  'Helm extraDeploy text': (p) => `replicaCount: 1\nextraDeploy:\n  - |\n${yaml(dep(p), 4)}\n`,
  'Helm extraManifests map': (p) => ({ replicaCount: 1, extraManifests: { app: dep(p) } }),
  'HelmRelease values extraObjects': (p) => obj('helm.toolkit.fluxcd.io/v2', 'HelmRelease', { interval: '1h', chart: { spec: { chart: 'app', sourceRef: { kind: 'HelmRepository', name: 'x' } } }, values: { extraObjects: [dep(p)] } }),
  'HelmRelease postRenderers': (p) => `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app}\nspec:\n  interval: 1h\n  chart: {spec: {chart: app, sourceRef: {kind: HelmRepository, name: x}}}\n  postRenderers:\n    - kustomize:\n        patches:\n          - target: {kind: Deployment, name: app}\n            patch: |\n${yaml(dep(p), 14)}\n`,
  'Flux Kustomization patches': (p) => `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app}\nspec:\n  interval: 1h\n  path: ./app\n  prune: true\n  sourceRef: {kind: GitRepository, name: x}\n  patches:\n    - target: {kind: Deployment, name: app}\n      patch: |\n${yaml(dep(p), 8)}\n`,
  'Argo Rollouts': (p) => obj('argoproj.io/v1alpha1', 'Rollout', { replicas: 1, selector: { matchLabels: { app: 'app' } }, template: { metadata: { labels: { app: 'app' } }, spec: p } }),
  'Ansible k8s definition': (p) => [{ hosts: 'all', tasks: [{ 'kubernetes.core.k8s': { state: 'present', definition: dep(p) } }] }],
  'Argo resource template': (p) => `apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: app}\nspec:\n  entrypoint: go\n  templates:\n    - name: go\n      resource:\n        action: create\n        manifest: |\n${yaml(job(p), 10)}\n`,
  'KRO ResourceGraphDefinition': (p) => obj('kro.run/v1alpha1', 'ResourceGraphDefinition', { schema: { apiVersion: 'v1alpha1', kind: 'App', spec: { name: 'string' } }, resources: [{ id: 'dep', template: dep(p) }] }),
  'Crossplane Composition': (p) => obj('apiextensions.crossplane.io/v1', 'Composition', { compositeTypeRef: { apiVersion: 'x.example/v1', kind: 'X' }, resources: [{ name: 'dep', base: { apiVersion: 'kubernetes.crossplane.io/v1alpha2', kind: 'Object', spec: { forProvider: { manifest: dep(p) } } } }] }),
  'Kueue/AppWrapper': (p) => obj('workload.codeflare.dev/v1beta2', 'AppWrapper', { components: [{ template: job(p) }] }),
  'Volcano JobTemplate/JobFlow': (p) => obj('flow.volcano.sh/v1alpha1', 'JobTemplate', { minAvailable: 1, tasks: [{ replicas: 1, name: 't', template: { spec: p } }] }),
  'k0s/k3s HelmChart extraObjects': (p) => `apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: x}\nspec:\n  chart: x\n  valuesContent: |\n    extraObjects:\n      - ${yaml(dep(p), 8).trimStart()}\n`,
  'cloud-init/Terraform-less kubectl_manifest': (p) => obj('addons.cluster.x-k8s.io/v1beta1', 'ClusterResourceSet', { resources: [] , manifest: dep(p)}),
};
const only = process.argv[2];
const rows: string[] = []; let hit = 0, total = 0; const misses: string[] = []; const baseNoise: string[] = [];
for (const [b, write] of Object.entries(blocks)) {
  if (only && !b.includes(only)) continue;
  const run = (p: O) => { const w = write(p); const t = typeof w === 'string' ? w : yaml(strip(w)); return new Analysis({ strict: true }).setFile('file:///w/app.yaml', t).documents.flatMap(({ findings }) => findings); };
  const clean = run(base());
  const noise = clean.filter((f) => f.severity === 'error' || f.severity === 'warning');
  if (noise.length) baseNoise.push(`${b}: ${noise.map((f) => `${f.rule}: ${f.message}`).join(' | ')}`);
  const missed: string[] = [];
  for (const [m, [rule, change]] of Object.entries(mistakes)) {
    const p = base(); change(p); total += 1;
    const found = run(p).filter((f) => rule.test(f.rule));
    if (found.length > clean.filter((f) => rule.test(f.rule)).length || found.some((f)=>!clean.some((c)=>c.rule===f.rule && c.message===f.message))) hit += 1; else missed.push(m);
  }
  rows.push(`${String(15 - missed.length).padStart(2)}/15 ${b}${missed.length ? `  MISS: ${missed.join(', ')}` : ''}`);
}
console.log(rows.join('\n')); console.log(`${hit}/${total}`); console.log('NOISE\n' + baseNoise.join('\n'));
