import { either, partOf } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { mentionsDevices, modelsMentioned } from '../model/named-models.ts';
import { asBoolean, asText, type Cursor, entries, getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';

/** Whether a chart may request or expose GPUs by a key of its values, or take all resources from it. */
export function mayRequest(key: string): boolean {
  const words = `-${wordsOf(key).join('-')}-`;
  return mentionsDevices(key) || resourceWords.some((one) => words.includes(`-${one}-`));
}

/** Whether values name devices anywhere but in comments and in the server's part of their memory or its layers, or a device that is the CPU. */
export function namesDevices(text: string): boolean {
  const plain = withoutComments(text).replace(/gpu[-_]?(?:mem\w*|layers)/gi, '');
  return deviceWords.test(plain) || modelsMentioned(plain.slice(0, 20_000)).length > 0;
}

const deviceWords = either(
  partOf('gpu nvidia accelerator', 'cuda rocm tpu neuron'),
  /\bmig\b|device\w{0,20}["']?:\s{0,20}["']?(?:cpu|openvino)/,
);

/** The text without a block of a mapping that turns GPUs off: `gpu: {enabled: false, count: 1}`. */
export function withoutSwitchedOff(text: string, values: Cursor): string {
  const off = entries(values).find(isSwitchedOff);
  return off === undefined ? text : text.slice(0, keySpanOf(off).start) + text.slice(spanOf(off).end);
}

export function isSwitchedOff(entry: Cursor): boolean {
  const isOff = asBoolean(getIn(entry, 'enabled')) === false || asText(getIn(entry, 'vendor')) === 'none';
  return isOff && /^gpus?$/i.test(keyOf(entry));
}

/** A text without its comments, for searches by words. */
export function withoutComments(text: string): string {
  return text.replace(/(?:^|\s)#.*$/gm, '');
}

const resourceWords = ['preset', 'profile', 'limits', 'requests', 'claim', 'claims', 'runtime-class', 'instance-type'];
