// A machine with eight H100s, a pod that takes all of it, and a price that a refresh could have fetched.
import type { FetchedPrice } from '../../server/src/catalog/index.ts';

export const p5Pod = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge, topology.kubernetes.io/region: us-east-1}
  containers:
    - {name: a, image: "a@sha256:${'0'.repeat(64)}", resources: {limits: {nvidia.com/gpu: 8}}}
`;

export const p5Price: FetchedPrice = {
  provider: 'aws',
  instanceType: 'p5.48xlarge',
  region: 'us-east-1',
  pricing: 'on-demand',
  hourly: 50,
  basis: null,
  date: '2026-11-22',
  source: 'https://pricing.us-east-1.amazonaws.com/index.csv',
};
