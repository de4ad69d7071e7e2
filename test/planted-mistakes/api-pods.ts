import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { isPodSpec, isWholePod } from '../../server/src/evidence/rejection.ts';
import { getIn, items } from '../../server/src/yaml/cursor.ts';
import type { PlainValue } from '../../server/src/yaml/edit.ts';
import { containerSites, isWhole, type PodSite, podSites } from './sites.ts';
import { add, appendUnder, type Mistake, type Path, type Place, type Planters, put } from './steps.ts';

export const planters: Planters = {
  'affinity-invalid': badSpread,
  'affinity-never-matches': textCompared,
  'device-claim-invalid': bareClaim,
  'duplicate-name': twice,
  'emptydir-medium': badMedium,
  'env-invalid': badSource,
  'name-invalid': badName,
  'number-out-of-range': negative,
  'object-reference': unknownVolume,
  'pod-invalid': bareNames,
  'port-invalid': sharedPort,
  'probe-invalid': badProbe,
  'resource-invalid': badResource,
  'resource-unit': noUnit,
  'security-context-invalid': rootWithoutRoot,
  'volume-invalid': twoSources,
  'volume-never-ready': bareBucket,
  'volume-unmounted': unusedClaim,
};

// What the API server rejects in the pods of any kind.

/** Pods that are written in this text, with accelerators of their own. */
function sites(analysis: DocumentAnalysis): readonly PodSite[] {
  return podSites(analysis).filter(({ workload, podSet }) => isPodSpec(podSet, workload) && isWhole(workload));
}

/** One more item of a list of the pod or its container, and the place in it where the finding starts. */
function oneMore(
  { root }: PodSite,
  owner: Path,
  list: string,
  value: PlainValue,
  place: Path,
  part: Place['part'] = 'value',
): Mistake {
  const count = items(getIn(root, ...owner, list)).length;
  return {
    name: `${list}: ${JSON.stringify(value)}`,
    steps: [appendUnder(owner, list, value)],
    place: { path: [...owner, list, count, ...place], part },
  };
}

function badName(analysis: DocumentAnalysis): readonly Mistake[] {
  const names = ['Scratch', 'scratch_1', 'scratch.1', '-scratch', 'a'.repeat(64)];
  return sites(analysis).flatMap((site) =>
    names.map((name) => oneMore(site, site.pod, 'volumes', { name, emptyDir: {} }, ['name'])),
  );
}

function twice(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map((site) => {
    const volume = { name: 'scratch-x', emptyDir: {} };
    const { steps, place, name } = oneMore(site, site.pod, 'volumes', volume, ['name']);
    const path = place.path.map((step, index) => (index === site.pod.length + 1 ? Number(step) + 1 : step));
    return { name: `${name} twice`, steps: [...steps, ...steps], place: { path, part: 'value' } };
  });
}

function twoSources(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map((site) =>
    oneMore(
      site,
      site.pod,
      'volumes',
      { name: 'scratch-x', emptyDir: {}, configMap: { name: 'x' } },
      ['configMap'],
      'key',
    ),
  );
}

/** A bucket of a pod that has no sidecar for it. */
function bareBucket(analysis: DocumentAnalysis): readonly Mistake[] {
  const bucket = { driver: 'gcsfuse.csi.storage.gke.io', volumeAttributes: { bucketName: 'images' } };
  return sites(analysis)
    .filter(({ podSet, workload }) => isWholePod(podSet, workload) && analysis.document.template === false)
    .filter(({ workload }) => workload.kind !== 'Notebook')
    .filter(({ podSet: { pod } }) => getIn(pod.parent, 'metadata', 'annotations', 'gke-gcsfuse/volumes') === undefined)
    .map((site) => oneMore(site, site.pod, 'volumes', { name: 'bucket-x', csi: bucket }, ['csi', 'driver']));
}

function unusedClaim(analysis: DocumentAnalysis): readonly Mistake[] {
  const volume = { name: 'kept-x', persistentVolumeClaim: { claimName: 'kept-x' } };
  return sites(analysis)
    .filter(({ podSet, workload }) => isWholePod(podSet, workload) && analysis.document.template === false)
    .map((site) => oneMore(site, site.pod, 'volumes', volume, ['name']));
}

function badMedium(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).flatMap((site) =>
    ['memory', 'MEMORY', 'tmpfs', 'ssd'].map((medium) =>
      oneMore(site, site.pod, 'volumes', { name: 'scratch-x', emptyDir: { medium } }, ['emptyDir', 'medium']),
    ),
  );
}

function unknownVolume(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis)
    .filter(({ workload, podSet }) => isWholePod(podSet, workload))
    .map((site) =>
      oneMore(site, site.first.path, 'volumeMounts', { name: 'not-there', mountPath: '/not-there' }, ['name']),
    );
}

function badSource(analysis: DocumentAnalysis): readonly Mistake[] {
  const source = ['valueFrom', 'resourceFieldRef', 'resource'];
  return sites(analysis).flatMap((site) =>
    ['limits.nvidia.com/gpu', 'requests.amd.com/gpu', 'cpu'].map((resource) =>
      oneMore(site, site.first.path, 'env', { name: 'HELD', valueFrom: { resourceFieldRef: { resource } } }, source),
    ),
  );
}

function sharedPort(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map((site) => {
    const port = { containerPort: 18_000, hostPort: 19_000 };
    const { steps, place } = oneMore(site, site.first.path, 'ports', port, ['hostPort']);
    const at = site.first.path.length + 1;
    const path = place.path.map((step, index) => (index === at ? Number(step) + 1 : step));
    const other = appendUnder(site.first.path, 'ports', { containerPort: 18_001, hostPort: 19_000 });
    return { name: 'one host port twice', steps: [...steps, other], place: { path, part: 'value' } };
  });
}

function bareClaim(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map((site) => oneMore(site, site.pod, 'resourceClaims', { name: 'more' }, ['name']));
}

/** A field of the pod, or of its container. */
function field(owner: Path, key: string, value: PlainValue, place: Path, part: Place['part'] = 'value'): Mistake {
  return {
    name: `${key}: ${JSON.stringify(value)}`,
    steps: put(owner, key, value),
    place: { path: [...owner, key, ...place], part },
  };
}

function badSpread(analysis: DocumentAnalysis): readonly Mistake[] {
  const spread = { maxSkew: 1, minDomains: 2, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
  return sites(analysis).map(({ pod }) => field(pod, 'topologySpreadConstraints', [spread], [0, 'minDomains'], 'key'));
}

function textCompared(analysis: DocumentAnalysis): readonly Mistake[] {
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
  return sites(analysis)
    .filter(({ root, pod }) => getIn(root, ...pod, 'affinity') === undefined)
    .flatMap(({ pod }) =>
      ['40Gi', '1.5', 'large'].map((value) => {
        const matchExpressions = [{ key: 'example.com/memory', operator: 'Gt', values: [value] }];
        const affinity = { nodeAffinity: { [preferred]: [{ weight: 1, preference: { matchExpressions } }] } };
        const place = ['nodeAffinity', preferred, 0, 'preference', 'matchExpressions', 0, 'values', 0];
        return field(pod, 'affinity', affinity, place);
      }),
    );
}

function bareNames(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map(({ pod }) => field(pod, 'dnsPolicy', 'None', []));
}

function negative(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map(({ first }) => field(first.path, 'securityContext', { runAsUser: -1 }, ['runAsUser']));
}

function badProbe(analysis: DocumentAnalysis): readonly Mistake[] {
  const probe = { tcpSocket: { port: 8000 }, terminationGracePeriodSeconds: 30 };
  return sites(analysis)
    .filter(({ first }) => first.container.type === 'app')
    .map(({ first }) => field(first.path, 'readinessProbe', probe, ['terminationGracePeriodSeconds'], 'key'));
}

function rootWithoutRoot(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map(({ first }) =>
    field(first.path, 'securityContext', { runAsUser: 0, runAsNonRoot: true }, ['runAsUser']),
  );
}

function badResource(analysis: DocumentAnalysis): readonly Mistake[] {
  return containersOf(analysis).flatMap(({ resources }) =>
    ['vram', 'ephemeralStorage', 'disk', 'example.com/fpga/large', 'Example.com/fpga'].map((key) => ({
      name: key,
      steps: [add([...resources, 'limits'], key, 1)],
      place: { path: [...resources, 'limits', key], part: 'key' as const },
    })),
  );
}

function noUnit(analysis: DocumentAnalysis): readonly Mistake[] {
  const key = 'ephemeral-storage';
  return containersOf(analysis)
    .filter(({ container }) =>
      ['limits', 'requests'].every((one) => getIn(container.resources, one, key) === undefined),
    )
    .flatMap(({ resources }) =>
      [64, '100', '500m'].map((value) => ({
        name: `${key}: ${value}`,
        steps: [add([...resources, 'limits'], key, value)],
        place: { path: [...resources, 'limits', key], part: 'value' as const },
      })),
    );
}

function containersOf(analysis: DocumentAnalysis) {
  return containerSites(analysis).filter(({ listed, workload, podSet }) => listed && isPodSpec(podSet, workload));
}
