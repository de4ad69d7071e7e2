import { containerUse } from '../command/programs.ts';
import type { Manifest, PodSet, Role } from './workload.ts';

/** Namespaces in which nothing is a workload to optimise. */
const infrastructureNamespaces =
  /^(kube-system|kube-.*|gpu-operator.*|nvidia-.*|.*-operator|gmp-system|amazon-.*|openshift-.*|cattle-.*|monitoring)$/;

/** Names of device plugins, drivers, exporters and operators: they touch GPUs in order to serve them. */
const infrastructureNames =
  /(device-plugin|gpu-feature-discovery|node-feature-discovery|dcgm|gpu-operator|driver-installer|nvidia-driver|mig-manager|container-toolkit|cuda-validator|operator-validator|plugin-validator|nvidia-mps|kubelet-plugin|node-exporter|gpu-exporter)/;

/** What the object is for, where its kind does not tell: from its place first, then from what its containers run. */
export function roleOf(manifest: Manifest, podSets: readonly PodSet[]): Role {
  if (isInfrastructure(manifest, podSets)) return 'infrastructure';
  const uses = podSets.flatMap((podSet) =>
    podSet.containers
      .filter((container) => container.type !== 'init')
      .map((container) =>
        containerUse({
          ...(container.image && { image: container.image.value }),
          command: container.command.map(({ value }) => value),
          args: container.args.map(({ value }) => value),
        }),
      ),
  );
  for (const use of ['serving', 'training', 'interactive', 'batch'] as const) {
    if (uses.some((found) => found.use === use)) return use;
  }
  return manifest.kind === 'Job' || manifest.kind === 'CronJob' ? 'batch' : 'unknown';
}

function isInfrastructure(manifest: Manifest, podSets: readonly PodSet[]): boolean {
  if (manifest.namespace !== null && infrastructureNamespaces.test(manifest.namespace)) return true;
  if (manifest.name !== null && infrastructureNames.test(manifest.name)) return true;
  return podSets.some((podSet) =>
    podSet.containers.some((container) => infrastructureNames.test(container.image?.value ?? '')),
  );
}
