/**
 * Hostnames that clouds and their node pools generate for machines, by their form. All read 2026-11-29.
 * AWS: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/hostname-types.html
 * GKE: https://cloud.google.com/kubernetes-engine/docs/concepts/node-pools
 * AKS: https://learn.microsoft.com/en-us/azure/aks/core-aks-concepts
 * Gardener: https://github.com/gardener/machine-controller-manager
 */
const generated: readonly RegExp[] = [
  /^ip(?:-\d{1,3}){4}(?:\.|$)/,
  /^i-[0-9a-f]{17}(?:\.|$)/,
  /^gk[e3]-.+-[0-9a-f]{8}-[0-9a-z]{4}$/,
  /^aks-\w+-\d{8}-vmss[0-9a-z]{6}$/,
  /^shoot--.+-z\d-[0-9a-z]{5}-[0-9a-z]{5}$/,
];

/** Whether a hostname is one that a cloud generated for a machine, which a node pool replaces by one with another name. */
export function isMachineOfCloud(hostname: string): boolean {
  return hostname.length <= 253 && generated.some((form) => form.test(hostname));
}
