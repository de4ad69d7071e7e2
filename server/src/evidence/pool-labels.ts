import { isSlip } from '../catalog/spelling.ts';

// The labels of machines in the domain of Karpenter's provider. It rejects all others there.
// Source: aws/karpenter-provider-aws@1d927085:pkg/apis/v1/labels.go (2026-08-21).

const domain = 'karpenter.k8s.aws/';

const facts = [
  ...['category', 'family', 'generation', 'size', 'cpu', 'cpu-manufacturer', 'memory', 'hypervisor', 'local-nvme'],
  ...['ebs-bandwidth', 'network-bandwidth', 'gpu-name', 'gpu-manufacturer', 'gpu-count', 'gpu-memory'],
  ...['accelerator-name', 'accelerator-manufacturer', 'accelerator-count'],
];

const known = facts.map((fact) => `${domain}instance-${fact}`);

/** Other words for the last part of a label. */
const words = new Map([
  ['type', 'name'],
  ['model', 'name'],
  ['product', 'name'],
  ['vendor', 'manufacturer'],
  ['num', 'count'],
  ['number', 'count'],
]);

/** Labels of Karpenter and Kubernetes that are often written in the provider's domain. */
const elsewhere = new Map([
  ['capacity-type', 'karpenter.sh/capacity-type'],
  ['instance-type', 'node.kubernetes.io/instance-type'],
  ['arch', 'kubernetes.io/arch'],
  ['zone', 'topology.kubernetes.io/zone'],
]);

/** The label that a wrong one of Karpenter's provider means; undefined for labels that exist or that a later version may have. */
export function meantPoolLabel(key: string): string | undefined {
  if (!key.startsWith(domain) || known.includes(key)) return undefined;
  const other = elsewhere.get(key.slice(domain.length));
  if (other !== undefined) return other;
  const [, start = '', end = ''] = /^(.*-(?:gpu|accelerator)-)([a-z]+)$/.exec(key) ?? [];
  const meant = `${start}${words.get(end) ?? ''}`;
  return known.includes(meant) ? meant : known.find((label) => isSlip(key, label));
}
