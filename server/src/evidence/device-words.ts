import { either, partOf } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { mentionsDevices, modelsMentioned } from '../model/named-models.ts';

/** Whether a chart may request or expose GPUs by a key of its values, or take all resources from it. */
export function mayRequest(key: string): boolean {
  const words = `-${wordsOf(key).join('-')}-`;
  return mentionsDevices(key) || resourceWords.some((one) => words.includes(`-${one}-`));
}

/** Whether values name devices anywhere but in comments and in the server's part of their memory or its layers, or a device that is the CPU. */
export function namesDevices(text: string): boolean {
  const plain = text.replace(/(?:^|\s)#.*$/gm, '').replace(/gpu[-_]?(?:mem\w*|layers)/gi, '');
  return deviceWords.test(plain) || modelsMentioned(plain.slice(0, 20_000)).length > 0;
}

const deviceWords = either(
  partOf('gpu nvidia accelerator', 'cuda rocm tpu neuron'),
  /\bmig\b|device\w{0,20}["']?:\s{0,20}["']?(?:cpu|openvino)/,
);

const resourceWords = ['preset', 'profile', 'limits', 'requests', 'claim', 'claims', 'runtime-class', 'instance-type'];
