import { planters as annotations } from './annotations.ts';
import { planters as api } from './api.ts';
import { planters as apiObjects } from './api-objects.ts';
import { planters as apiPods } from './api-pods.ts';
import { planters as cluster } from './cluster.ts';
import { planters as commands } from './commands.ts';
import { planters as configs } from './configs.ts';
import { planters as containers } from './containers.ts';
import { planters as devices } from './devices.ts';
import { planters as images } from './images.ts';
import { planters as lifetime } from './lifetime.ts';
import { planters as modelFit } from './model-fit.ts';
import { planters as namespaces } from './namespaces.ts';
import { planters as others } from './others.ts';
import { planters as placement } from './placement.ts';
import { planters as requests } from './requests.ts';
import { planters as scalers } from './scalers.ts';
import { planters as scaling } from './scaling.ts';
import { planters as scripts } from './scripts.ts';
import { planters as serving } from './serving.ts';
import type { Planter } from './steps.ts';
import { planters as training } from './training.ts';
import { planters as worldSize } from './world-size.ts';

const families = [
  annotations,
  api,
  apiObjects,
  apiPods,
  cluster,
  commands,
  configs,
  containers,
  devices,
  images,
  lifetime,
  namespaces,
  others,
  placement,
  requests,
  scalers,
  scaling,
  modelFit,
  scripts,
  serving,
  training,
  worldSize,
];

/** By rule id: a rule may have planters in several files. One without any, and without a reason in `exempt`, fails a test. */
export const planters: ReadonlyMap<string, Planter> = new Map(
  [...new Set(families.flatMap((family) => Object.keys(family)))]
    .sort()
    .map((rule) => [rule, (analysis, file) => families.flatMap((family) => family[rule]?.(analysis, file) ?? [])]),
);

/** Rules without a planter, each with the reason. */
export const exempt: Readonly<Record<string, string>> = {
  'disaggregation-incomplete':
    'Hardly any manifest of the fixtures has servers for prefill and for decoding in one object.',
  'notebook-without-volume': 'Any notebook without a volume has it, so there is hardly a clean one to plant it in.',
  'mps-pipe-missing': 'Whether the image starts the daemon of MPS itself is rarely known of the images of fixtures.',
  'policy-dns': 'No clean fixture has a NetworkPolicy.',
  'instance-retired': 'On a retired machine, most programs also find a card that is too old for them.',
  'host-path-any-node': 'Hardly any clean manifest has a folder of its node and selects no node.',
  'metrics-off': 'Hardly any clean manifest has one of its servers with annotations for Prometheus.',
  'experiment-invalid': 'No manifest of the fixtures is an Experiment of Katib.',
  'identical-runs': 'Copies of a pod also share its volumes and ports, which other rules report.',
  'worker-without-data': 'Hardly any clean fixture has a master and workers that mount data.',
  'spark-invalid': 'No manifest of the fixtures is a SparkApplication with GPUs.',
  'model-uri': 'Few fixtures have the address of a model in a field of an operator.',
  'values-path':
    'Its paths are in objects that install charts, and mistakes are planted in objects that request accelerators.',
  'values-key': 'Few fixtures are values of the charts whose keys are known.',
  'json-patch-path':
    'Its patches are in kustomizations, and mistakes are planted in objects that request accelerators.',
  'kustomization-invalid': 'Mistakes are planted in objects that request accelerators.',
  'node-pool-small-disk': 'It needs a node class in the same file, and mistakes are planted in one document.',
  'key-not-found': 'It needs a Secret or a ConfigMap in the same file, and mistakes are planted in one document.',
};
