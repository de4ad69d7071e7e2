// @ts-check
// What the texts are made of.

/**
 * @typedef {object} Growing
 * @property {string} name what there are many of
 * @property {number} most the largest count, for about a megabyte of text
 * @property {(n: number) => string} make the text with so many of them
 */

/** @param {number} n @param {(index: number) => string} each */
export const many = (n, each) => Array.from({ length: n }, (_, index) => each(index)).join('');

export const head = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: server
`;
export const pod = `${head}spec:
  replicas: 2
  template:
    spec:
`;
export const containers = `      containers:
        - name: server
          image: example.com/server:1.0
          resources: { limits: { nvidia.com/gpu: 1 } }
`;
export const config = (/** @type {string} */ body) => `apiVersion: v1
kind: ConfigMap
metadata: { name: gpu-scripts }
data:
${body}`;

/** A list in the pod of a Deployment that asks for a GPU. @param {string} key @param {(index: number) => string} each */
export const inPod = (key, each) => (/** @type {number} */ n) => `${pod}${containers}      ${key}:\n${many(n, each)}`;
/** A list in its container. @param {string} key @param {(index: number) => string} each */
export const inContainer = (key, each) => (/** @type {number} */ n) =>
  `${pod}${containers}          ${key}:\n${many(n, each)}`;
/** One argument of a container that holds a script. @param {(index: number) => string} each */
export const script = (each) => (/** @type {number} */ n) =>
  `${pod}${containers}          command: [sh, -c]\n          args:\n            - |\n${many(n, (index) => each(index).replace(/^(?=.)/gm, '              '))}`;
export const container = (/** @type {number} */ index) => `        - name: c${index}
          image: example.com/server:1.0
          resources: { limits: { nvidia.com/gpu: 1 } }
`;
